# Fish completion for lockbench. It asks the program: commands, options and names are those of the lockbench
# that is being called. See completion.bash, which offers the same.

function __lockbench_commands
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null | string replace -rf '^  ([a-z]+)  +([A-Z].*)' '$1\t$2'
end

function __lockbench_options
    set -l words (commandline -opc)
    test (count $words) -ge 2; and $words[1] $words[2] --help all 2>/dev/null | string match -rg '^  (?:-[a-zA-Z],|   ) (--[a-z-]+)'
end

function __lockbench_list
    set -l words (commandline -opc)
    $words[1] list $argv --names 2>/dev/null
end

function __lockbench_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __lockbench_formats
    set -l words (commandline -opc)
    $words[1] $words[2] --help all 2>/dev/null | string join ' ' | string match -r -- '--format=.*?(?= --)' |
        string match -rga '\b('(string join '|' ($words[1] list formats --names 2>/dev/null))')\b' | sort -u
end

function __lockbench_after
    contains -- (commandline -opc)[-1] $argv
end

# Where the option before takes one of the words below, nothing else is offered.
function __lockbench_is_free
    not __fish_use_subcommand
    and not __lockbench_after -s --strategy -S --scenario -d --database --fault --faults --aged --statistics --steps --ids --model --release --export \
        --metric --arrivals --backoff --isolation --format --baseline
end

complete -c lockbench -f
complete -c lockbench -n __fish_use_subcommand -f -a '(__lockbench_commands) help'
complete -c lockbench -n __lockbench_is_free -a '(__lockbench_options)'
complete -c lockbench -n '__lockbench_after -s --strategy' -a '(__fish_append , all locks queues controls (__lockbench_list strategies))'
complete -c lockbench -n '__lockbench_after -S --scenario' -a '(__fish_append , (__lockbench_list scenarios))'
complete -c lockbench -n '__lockbench_after -d --database' -a 'sqlite: postgresql:// mariadb://'
complete -c lockbench -n '__lockbench_after --faults' -a '(__fish_append , all (__lockbench_list faults))'
complete -c lockbench -n '__lockbench_after --baseline' -a '(__lockbench_list results)'
complete -c lockbench -n '__lockbench_after --fault' -a 'none (__lockbench_list faults | string match -v skew)'
complete -c lockbench -n '__lockbench_after --steps' -a '(__fish_append , clock crash cut)'
complete -c lockbench -n '__lockbench_after --aged' -a '(__fish_append , finished failed delayed claimed waiting other-class dead)'
complete -c lockbench -n '__lockbench_after --statistics' -a 'fresh stale default'
complete -c lockbench -n '__lockbench_after --ids' -a 'unique spid guid host'
complete -c lockbench -n '__lockbench_after --model' -a 'mutex reentrant semaphore: rwlock lease queue fifo'
complete -c lockbench -n '__lockbench_after --release' -a 'belief state'
complete -c lockbench -n '__lockbench_after --export' -a 'edn jsonl'
complete -c lockbench -n '__lockbench_after --metric' -a '(__fish_append , rate p50 p95 p99 cpu)'
complete -c lockbench -n '__lockbench_after --arrivals' -a 'poisson even'
complete -c lockbench -n '__lockbench_after --format' -a '(__lockbench_formats)'
complete -c lockbench -n '__lockbench_after --isolation' -a 'default read-committed repeatable-read serializable'
complete -c lockbench -n '__lockbench_after --backoff' -a 'fixed exponential jitter'
complete -c lockbench -n '__lockbench_is_free; and __lockbench_is list' -a 'strategies scenarios engines guarantees faults formats results'
complete -c lockbench -n '__lockbench_is_free; and __lockbench_is show' -a '(__lockbench_list strategies) (__lockbench_list results)'
complete -c lockbench -n '__lockbench_after -s --strategy -S --scenario -o --output --sql-dir --resume --trace --after-setup --with' -F
complete -c lockbench -n '__lockbench_is_free; and __lockbench_is report diff check lint experiment show' -F
