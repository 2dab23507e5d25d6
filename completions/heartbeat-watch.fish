complete -c heartbeat-watch -l state-dir -d 'The folder that holds work-items.json; nothing is written there [default: .agent-atelier]' -r -F
complete -c heartbeat-watch -l poll-interval -l interval -d 'Look at least this often' -r
complete -c heartbeat-watch -l warn-before -d 'Warn when less than this is left' -r
complete -c heartbeat-watch -l grace -d 'Call a lease expired only this long after its end' -r
complete -c heartbeat-watch -l emit -d 'Tell changes, or after each look all that holds' -r -f -a "events\t'What changed'
readings\t'All that holds, once a look, for `wake`'"
complete -c heartbeat-watch -l cursor -d 'Remember in FILE what was said, so that the next run tells the difference' -r -F
complete -c heartbeat-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c heartbeat-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c heartbeat-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c heartbeat-watch -l parent-pid -d 'End when this process ends' -r
complete -c heartbeat-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c heartbeat-watch -l emit-renewals -d 'Tell a lease that moved and is near its end still'
complete -c heartbeat-watch -l no-recovered -d 'Don\'t tell what is over'
complete -c heartbeat-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c heartbeat-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c heartbeat-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c heartbeat-watch -l no-announce -d 'Don\'t'
complete -c heartbeat-watch -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heartbeat-watch -s V -l version -d 'Print version'
