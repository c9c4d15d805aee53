# Bash completion for lockbench. It asks the program: commands, options and names are those of the
# lockbench that is being called. Listed here are only the words that an option takes.
# shellcheck shell=bash

_lockbench() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} words=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="help --help --version $("$program" --help 2>/dev/null |
            sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        return
    fi
    # --option=value reaches us as three words.
    if [[ $current == '=' ]]; then
        current=''
    elif [[ $previous == '=' ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $previous in
    -s | --strategy) words="all locks queues controls $("$program" list strategies --names 2>/dev/null)" ;;
    -S | --scenario) words=$("$program" list scenarios --names 2>/dev/null) ;;
    -d | --database) words='sqlite: postgresql:// mariadb://' ;;
    --faults) words="all $("$program" list faults --names 2>/dev/null)" ;;
    --baseline) words=$("$program" list results --names 2>/dev/null) ;;
    --fault) words="none $("$program" list faults --names 2>/dev/null | grep -vx skew)" ;;
    --steps) words='clock crash cut' ;;
    --aged) words='finished failed delayed claimed waiting other-class dead' ;;
    --statistics) words='fresh stale default' ;;
    --ids) words='unique spid guid host' ;;
    --model) words='mutex reentrant semaphore: rwlock lease queue fifo' ;;
    --release) words='belief state' ;;
    --export) words='edn jsonl' ;;
    --metric) words='rate p50 p95 p99 cpu' ;;
    --format)
        # Which of them is the command's own to say.
        words=$("$program" "$command" --help all 2>/dev/null | sed -n '/--format=/,/^ *\(-[a-zA-Z], *\)\?--[a-eg-z]/p' |
            grep -owF "$("$program" list formats --names 2>/dev/null)" | sort -u)
        ;;
    --arrivals) words='poisson even' ;;
    --backoff) words='fixed exponential jitter' ;;
    --isolation) words='default read-committed repeatable-read serializable' ;;
    -o | --output | --sql-dir | --resume)
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    *)
        if [[ $current == -* ]]; then
            words=$("$program" "$command" --help all 2>/dev/null |
                sed -n 's/^  \(-[a-zA-Z],\|   \) \(--[a-z-]*\).*/\2/p')
        elif [[ $command == list ]]; then
            words='strategies scenarios engines guarantees faults formats results'
        elif [[ $command == show ]]; then
            words="$("$program" list strategies --names 2>/dev/null)
                $("$program" list results --names 2>/dev/null)"
        elif [[ $command == lint || $command == experiment ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
        elif [[ $command == report || $command == diff ]]; then
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            return
        elif [[ $command == help ]]; then
            words=$("$program" --help 2>/dev/null |
                sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
        fi
        ;;
    esac
    # Lists are completed at their last name.
    local before=''
    if [[ $previous == -s || $previous == -S || $previous == --strategy || $previous == --scenario ||
        $previous == --faults || $previous == --steps || $previous == --aged || $previous == --metric ]] && [[ $current == *,* ]]; then
        before=${current%,*},
    fi
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${current#"$before"}")
    if [[ ($previous == -s && $current == *[./]*) || ($previous == -S && $current == *[./]*) ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -F _lockbench lockbench
