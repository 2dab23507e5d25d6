complete -c pr-state-watch -l repo -d 'The repository, as [HOST/]OWNER/NAME [default: `GH_REPO`, or the work tree\'s]' -r
complete -c pr-state-watch -l poll-interval -l interval -d 'How often to ask' -r
complete -c pr-state-watch -l known-red -d 'A check that is expected to fail, by its name or `WORKFLOW / NAME`; may be given several times' -r
complete -c pr-state-watch -l emit -d 'Print `events`: changes; or `readings`: all that holds, at each look' -r -f -a "events\t'What changed'
readings\t'All that holds, once a look, for `wake`'"
complete -c pr-state-watch -l format -d 'Print `ndjson`, or `text`: one short line per change of state' -r -f -a "ndjson\t'One JSON object per line'
text\t'`PR#729 OPEN review=NONE`'"
complete -c pr-state-watch -l cursor -d 'Remember in FILE what was said, for the next run' -r -F
complete -c pr-state-watch -l store -d 'Where programs share when GitHub wants to be left alone [default: the state folder]' -r -F
complete -c pr-state-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c pr-state-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c pr-state-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c pr-state-watch -l parent-pid -d 'End when this process ends' -r
complete -c pr-state-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c pr-state-watch -l ready -d 'Say also what stands in the way of a merge, and when nothing does'
complete -c pr-state-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c pr-state-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c pr-state-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c pr-state-watch -l no-announce -d 'Don\'t'
complete -c pr-state-watch -s h -l help -d 'Print help'
complete -c pr-state-watch -s V -l version -d 'Print version'
