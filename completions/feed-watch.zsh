#compdef feed-watch

autoload -U is-at-least

_feed-watch() {
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
'--poll-interval=[Look at least this often]:D:_default' \
'--interval=[Look at least this often]:D:_default' \
'--debounce=[Quiet time that ends a burst]:D:_default' \
'--items=[End when this registry says \`shutdown_request\`]:PATH:_files' \
'--cursor=[Remember in FILE what was told, and go on there at the next start]:FILE:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::paths -- The feeds, which may not exist yet:_files' \
&& ret=0
}

(( $+functions[_feed-watch_commands] )) ||
_feed-watch_commands() {
    local commands; commands=()
    _describe -t commands 'feed-watch commands' commands "$@"
}

if [ "$funcstack[1]" = "_feed-watch" ]; then
    _feed-watch "$@"
else
    compdef _feed-watch feed-watch
fi
