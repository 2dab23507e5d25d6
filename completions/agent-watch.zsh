#compdef agent-watch

autoload -U is-at-least

_agent-watch() {
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
'--items=[The registry of agents; - is stdin]:PATH:_files' \
'--poll-interval=[Look at every item at least this often]:D:_default' \
'--interval=[Look at every item at least this often]:D:_default' \
'--idle-stall=[Silence that makes a stall, when the item gives none]:D:_default' \
'--settle=[Quiet time after which a result counts as whole]:D:_default' \
'--settle-open=[The same while a writer is known to hold it open]:D:_default' \
'--death-grace=[Between an exit and \`process_died\`, for a result still on its way]:D:_default' \
'--pid-grace=[Before a missing pid file is told]:D:_default' \
'--margin=[Percent of the time limit at which \`timeout_imminent\` comes]:N:_default' \
'--base-dir=[The folder of relative paths in items \[default\: the working directory\]]:DIR:_files' \
'--until=[Exit when all items ended, or the first]:WHICH:(all-terminal any-terminal)' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--no-settle[A file that is not empty is a result]' \
'--count-suspend[Charge suspended time to the agent]' \
'--rewrites[Tell each later settled version of a result, too]' \
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

(( $+functions[_agent-watch_commands] )) ||
_agent-watch_commands() {
    local commands; commands=()
    _describe -t commands 'agent-watch commands' commands "$@"
}

if [ "$funcstack[1]" = "_agent-watch" ]; then
    _agent-watch "$@"
else
    compdef _agent-watch agent-watch
fi
