complete -c feed-watch -l poll-interval -l interval -d 'Look at least this often' -r
complete -c feed-watch -l debounce -d 'Quiet time that ends a burst' -r
complete -c feed-watch -l items -d 'End when this registry says `shutdown_request`' -r -F
complete -c feed-watch -l cursor -d 'Remember in FILE what was told, and go on there at the next start' -r -F
complete -c feed-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c feed-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c feed-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c feed-watch -l parent-pid -d 'End when this process ends' -r
complete -c feed-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c feed-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c feed-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c feed-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c feed-watch -l no-announce -d 'Don\'t'
complete -c feed-watch -s h -l help -d 'Print help'
complete -c feed-watch -s V -l version -d 'Print version'
