complete -c pane-watch -s L -d 'The server, by the name of its socket' -r
complete -c pane-watch -s S -d 'The server, by the path of its socket' -r -F
complete -c pane-watch -l lead -d 'The pane whose window is swept [default: `$TMUX_PANE`]' -r
complete -c pane-watch -l scope -d 'How far to look' -r -f -a "window\t''
session\t''
server\t''"
complete -c pane-watch -l known -d 'A pane that belongs there; may be given several times' -r
complete -c pane-watch -l known-file -d 'A file whose first line is such a pane; may be given several times' -r -F
complete -c pane-watch -l items -d 'The registry of agents' -r -F
complete -c pane-watch -l poll-interval -l interval -d 'Look at least this often' -r
complete -c pane-watch -l call-timeout -d 'How long one call of tmux may take' -r
complete -c pane-watch -l untracked-after -d 'The age below which a pane is not yet untracked' -r
complete -c pane-watch -l cursor -d 'Remember in FILE what was told, and go on there at the next start' -r -F
complete -c pane-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c pane-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c pane-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c pane-watch -l parent-pid -d 'End when this process ends' -r
complete -c pane-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c pane-watch -l baseline -d 'Say nothing of untracked panes that the first sweep finds'
complete -c pane-watch -l no-pidfd -d 'Only sweep'
complete -c pane-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c pane-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c pane-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c pane-watch -l no-announce -d 'Don\'t'
complete -c pane-watch -s h -l help -d 'Print help'
complete -c pane-watch -s V -l version -d 'Print version'
