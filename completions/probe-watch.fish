complete -c probe-watch -l probe -d 'The probe: a path, or a name on `PATH`' -r
complete -c probe-watch -l objective -d 'What to wait for, of what the probe knows [default: the first it knows]' -r
complete -c probe-watch -l set -d 'An option of the probe; may be given several times' -r
complete -c probe-watch -l emit -d 'Print `events`: changes; or `readings`: all that holds, at each look' -r -f -a "events\t'What changed'
readings\t'All that holds, once a look, for `wake`'"
complete -c probe-watch -l poll-interval -l interval -d 'How long after the end of a look the next one begins, from what the probe allows to 24h' -r
complete -c probe-watch -l call-timeout -d 'How long the probe may take for one look [default: what it says of itself]' -r
complete -c probe-watch -l jobs -d 'How many looks may be under way at once' -r
complete -c probe-watch -l max-backoff -d 'The longest pause after looks that failed' -r
complete -c probe-watch -l cursor -d 'Remember in FILE what was said, for the next run' -r -F
complete -c probe-watch -l store -d 'Where programs share what wants to be left alone [default: the state folder]' -r -F
complete -c probe-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c probe-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c probe-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c probe-watch -l parent-pid -d 'End when this process ends' -r
complete -c probe-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c probe-watch -l keep-going -d 'Go on with a subject whose look failed in a way that doesn\'t heal'
complete -c probe-watch -l check -d 'Look once, and name every rule of the protocol that the probe breaks'
complete -c probe-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c probe-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c probe-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c probe-watch -l no-announce -d 'Don\'t'
complete -c probe-watch -s h -l help -d 'Print help'
complete -c probe-watch -s V -l version -d 'Print version'
