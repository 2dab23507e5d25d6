#compdef event-tail

autoload -U is-at-least

_event-tail() {
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
'--state-dir=[The folder that is watched; nothing is written there \[default\: .agent-atelier\]]:DIR:_files' \
'*--filter=[Pass only lines whose top-level \`event\` is TYPE; may be given several times]:TYPE:_default' \
'--lines=[Read the last N lines that are there, then what comes]:N:_default' \
'--max-line=[Skip and count lines longer than this]:SIZE:_default' \
'--poll-interval=[Look at least this often]:D:_default' \
'--interval=[Look at least this often]:D:_default' \
'--cursor=[Remember in FILE how far the journal was read, and go on there at the next start]:FILE:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'(--lines)--from-start[Read the journal from its beginning, instead of only what comes]' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
}

(( $+functions[_event-tail_commands] )) ||
_event-tail_commands() {
    local commands; commands=()
    _describe -t commands 'event-tail commands' commands "$@"
}

if [ "$funcstack[1]" = "_event-tail" ]; then
    _event-tail "$@"
else
    compdef _event-tail event-tail
fi
