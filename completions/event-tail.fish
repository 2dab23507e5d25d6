complete -c event-tail -l state-dir -d 'The folder that is watched; nothing is written there [default: .agent-atelier]' -r -F
complete -c event-tail -l filter -d 'Pass only lines whose top-level `event` is TYPE; may be given several times' -r
complete -c event-tail -l lines -d 'Read the last N lines that are there, then what comes' -r
complete -c event-tail -l max-line -d 'Skip and count lines longer than this' -r
complete -c event-tail -l poll-interval -l interval -d 'Look at least this often' -r
complete -c event-tail -l cursor -d 'Remember in FILE how far the journal was read, and go on there at the next start' -r -F
complete -c event-tail -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c event-tail -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c event-tail -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c event-tail -l parent-pid -d 'End when this process ends' -r
complete -c event-tail -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c event-tail -l from-start -d 'Read the journal from its beginning, instead of only what comes'
complete -c event-tail -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c event-tail -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c event-tail -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c event-tail -l no-announce -d 'Don\'t'
complete -c event-tail -s h -l help -d 'Print help'
complete -c event-tail -s V -l version -d 'Print version'
