complete -c collab-tail -l alias -d 'Another name of the same seat; up to 15' -r
complete -c collab-tail -l route -d 'What counts as addressed: routed headings and direct lines, or mentions too' -r -f -a "strict\t'Only what is anchored on both sides: routed headings, direct lines'
bounded\t'Mentions, bare recipients and the status of one\'s own workers, too'"
complete -c collab-tail -l self -d 'Print the listener\'s own posts, or only remember them [default: emit; with bounded: drop]' -r -f -a "emit\t'They are printed'
drop\t'They are remembered without a word'"
complete -c collab-tail -l repeats -d 'Whether an equal heading that comes once more is told once more' -r -f -a "none\t'Nothing new'
heading\t'News, if it is a heading and its board holds one more of it than ever'"
complete -c collab-tail -l format -d 'What is printed: events, or the older tool\'s records' -r -f -a "ndjson\t'As NDJSON'
text\t'As the older tool\'s records'"
complete -c collab-tail -l poll-interval -l interval -d 'Look at least this often' -r
complete -c collab-tail -l store -d 'Where this and other programs keep their state' -r -F
complete -c collab-tail -l import -d 'Take over the older tool\'s folder of this listener, once' -r -F
complete -c collab-tail -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c collab-tail -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c collab-tail -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c collab-tail -l parent-pid -d 'End when this process ends' -r
complete -c collab-tail -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c collab-tail -l unread -d 'Deliver a board that wasn\'t read before, instead of taking it as history'
complete -c collab-tail -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c collab-tail -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c collab-tail -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c collab-tail -l no-announce -d 'Don\'t'
complete -c collab-tail -s h -l help -d 'Print help (see more with \'--help\')'
complete -c collab-tail -s V -l version -d 'Print version'
