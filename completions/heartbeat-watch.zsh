#compdef heartbeat-watch

autoload -U is-at-least

_heartbeat-watch() {
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
'--state-dir=[The folder that holds work-items.json; nothing is written there \[default\: .agent-atelier\]]:DIR:_files' \
'--poll-interval=[Look at least this often]:D:_default' \
'--interval=[Look at least this often]:D:_default' \
'--warn-before=[Warn when less than this is left]:D:_default' \
'--grace=[Call a lease expired only this long after its end]:D:_default' \
'--emit=[Tell changes, or after each look all that holds]:WHAT:((events\:"What changed"
readings\:"All that holds, once a look, for \`wake\`"))' \
'--cursor=[Remember in FILE what was said, so that the next run tells the difference]:FILE:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--emit-renewals[Tell a lease that moved and is near its end still]' \
'--no-recovered[Don'\''t tell what is over]' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
}

(( $+functions[_heartbeat-watch_commands] )) ||
_heartbeat-watch_commands() {
    local commands; commands=()
    _describe -t commands 'heartbeat-watch commands' commands "$@"
}

if [ "$funcstack[1]" = "_heartbeat-watch" ]; then
    _heartbeat-watch "$@"
else
    compdef _heartbeat-watch heartbeat-watch
fi
