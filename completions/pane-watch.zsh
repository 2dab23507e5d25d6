#compdef pane-watch

autoload -U is-at-least

_pane-watch() {
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
'(-S)-L+[The server, by the name of its socket]:NAME:_default' \
'-S+[The server, by the path of its socket]:PATH:_files' \
'--lead=[The pane whose window is swept \[default\: \`\$TMUX_PANE\`\]]:%N:_default' \
'--scope=[How far to look]:SCOPE:(window session server)' \
'*--known=[A pane that belongs there; may be given several times]:%N:_default' \
'*--known-file=[A file whose first line is such a pane; may be given several times]:PATH:_files' \
'--items=[The registry of agents]:PATH:_files' \
'--poll-interval=[Look at least this often]:D:_default' \
'--interval=[Look at least this often]:D:_default' \
'--call-timeout=[How long one call of tmux may take]:D:_default' \
'--untracked-after=[The age below which a pane is not yet untracked]:D:_default' \
'--cursor=[Remember in FILE what was told, and go on there at the next start]:FILE:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--baseline[Say nothing of untracked panes that the first sweep finds]' \
'--no-pidfd[Only sweep]' \
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

(( $+functions[_pane-watch_commands] )) ||
_pane-watch_commands() {
    local commands; commands=()
    _describe -t commands 'pane-watch commands' commands "$@"
}

if [ "$funcstack[1]" = "_pane-watch" ]; then
    _pane-watch "$@"
else
    compdef _pane-watch pane-watch
fi
