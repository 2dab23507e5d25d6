complete -c gate-watch -l state-dir -d 'The folder that is watched; nothing is written there [default: .agent-atelier]' -r -F
complete -c gate-watch -l poll-interval -l interval -d 'Look at least this often' -r
complete -c gate-watch -l warn-after -d 'Tell once of each gate that stays open this long' -r
complete -c gate-watch -l cursor -d 'Remember in FILE what was said, and tell the difference at the next start' -r -F
complete -c gate-watch -l emit -d 'Print changes, or all that holds at every look' -r -f -a "events\t'What changed'
readings\t'All that holds, once a look, for `wake`'"
complete -c gate-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c gate-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c gate-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c gate-watch -l parent-pid -d 'End when this process ends' -r
complete -c gate-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c gate-watch -l emit-current -d 'Tell the gates that are open at the start, too'
complete -c gate-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c gate-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c gate-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c gate-watch -l no-announce -d 'Don\'t'
complete -c gate-watch -s h -l help -d 'Print help (see more with \'--help\')'
complete -c gate-watch -s V -l version -d 'Print version'
