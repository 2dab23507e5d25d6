#compdef classify

autoload -U is-at-least

_classify() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--min=[Leave out events below this urgency, but never a \`reading\`]:URGENCY:(immediate warning info)' \
'(--report --print-rules)--audience=[Whose share of the events passes \[default\: all\]]:WHO:(lead consultant all)' \
'(--print-rules)--format=[In which form; the last two imply that audience]:FORMAT:(ndjson lead consultant)' \
'--rules=[Rules to try before the built-in ones]:FILE:_files' \
'--status=[With --report\: the output of \`supervise status\`, to sort the monitors by]:FILE:_files' \
'--max-line=[The longest line that is read\: 4K to 64M, powers of 1024]:SIZE:_default' \
'(--report --print-rules)--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of its own lines, instead of the program'\''s name]:NAME:_default' \
'--blind-strict[No result path to the consultant while blind]' \
'--seed-only[With --format lead or consultant\: leave out events that the oldest formats have no line for]' \
'(--report)--print-rules[Print the rules in force, as \`--rules\` takes them, and exit]' \
'--report[Read all input, then print one object of all events by urgency]' \
'--quiet[With --report\: print nothing when there is nothing to tell]' \
'--exit-code[At the end, exit with 10 if anything was immediate (or a monitor is dead), 11 if anything was a warning (or malformed)]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::inputs -- With --report\: a monitor'\''s name and the file of its lines, - for stdin:_default' \
&& ret=0
}

(( $+functions[_classify_commands] )) ||
_classify_commands() {
    local commands; commands=()
    _describe -t commands 'classify commands' commands "$@"
}

if [ "$funcstack[1]" = "_classify" ]; then
    _classify "$@"
else
    compdef _classify classify
fi
