#compdef nudge

autoload -U is-at-least

_nudge() {
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
'*--on=[The events that want an answer, separated by commas]:LIST:_default' \
'--after=[How long an answer is waited for, each time]:D:_default' \
'--max=[How often an event is said again at most]:N:_default' \
'--acks=[A file of acknowledgements, which may be the registry]:PATH:_files' \
'--store=[Remember what is pending over a restart, below this folder]:DIR:_files' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of its own lines, instead of the program'\''s name]:NAME:_default' \
'--drain[At the end of input wait for what is pending]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
}

(( $+functions[_nudge_commands] )) ||
_nudge_commands() {
    local commands; commands=()
    _describe -t commands 'nudge commands' commands "$@"
}

if [ "$funcstack[1]" = "_nudge" ]; then
    _nudge "$@"
else
    compdef _nudge nudge
fi
