#compdef lockbench
# Zsh completion for lockbench. It asks the program: commands, options and names are those of the lockbench
# that is being called. See completion.bash, which offers the same.

_lockbench() {
    local program=$words[1] command=$words[2] previous=$words[CURRENT-1]
    if ((CURRENT == 2)); then
        compadd -- help --help --version \
            ${(f)"$($program --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')"}
        return
    fi
    case $previous in
    -s | --strategy) _values -s , strategy all locks queues controls ${(f)"$($program list strategies --names 2>/dev/null)"} || _files ;;
    -S | --scenario) _values -s , scenario ${(f)"$($program list scenarios --names 2>/dev/null)"} || _files ;;
    -d | --database) compadd -S '' -- sqlite: postgresql:// mariadb:// ;;
    --faults) _values -s , fault all ${(f)"$($program list faults --names 2>/dev/null)"} ;;
    --baseline) compadd -- ${(f)"$($program list results --names 2>/dev/null)"} ;;
    --fault) compadd -- none ${(f)"$($program list faults --names 2>/dev/null | grep -vx skew)"} ;;
    --steps) _values -s , step clock crash cut ;;
    --aged) _values -s , state finished failed delayed claimed waiting other-class dead ;;
    --statistics) compadd -- fresh stale default ;;
    --ids) compadd -- unique spid guid host ;;
    --model) compadd -S '' -- mutex reentrant semaphore: rwlock lease queue fifo ;;
    --release) compadd -- belief state ;;
    --export) compadd -- edn jsonl ;;
    --metric) _values -s , metric rate p50 p95 p99 cpu ;;
    --format)
        compadd -- ${(f)"$($program $command --help all 2>/dev/null | sed -n '/--format=/,/^ *\(-[a-zA-Z], *\)\{0,1\}--[a-eg-z]/p' |
            grep -owF "$($program list formats --names 2>/dev/null)" | sort -u)"}
        ;;
    --arrivals) compadd -- poisson even ;;
    --backoff) compadd -- fixed exponential jitter ;;
    --isolation) compadd -- default read-committed repeatable-read serializable ;;
    -o | --output | --sql-dir | --resume) _files -/ ;;
    *)
        if [[ $words[CURRENT] == -* ]]; then
            compadd -- ${(f)"$($program $command --help all 2>/dev/null | sed -n 's/^  \(-[a-zA-Z],\|   \) \(--[a-z-]*\).*/\2/p')"}
        elif [[ $command == list ]]; then
            compadd -- strategies scenarios engines guarantees faults formats results
        elif [[ $command == show ]]; then
            compadd -- ${(f)"$($program list strategies --names 2>/dev/null)"} ${(f)"$($program list results --names 2>/dev/null)"}
        else
            _files
        fi
        ;;
    esac
}

_lockbench "$@"
