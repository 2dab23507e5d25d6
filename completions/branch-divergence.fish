complete -c branch-divergence -l base -d 'The branch to compare with; `auto`: the remote\'s own choice' -r
complete -c branch-divergence -l poll-interval -l interval -d 'How often to ask the remote' -r
complete -c branch-divergence -l threshold -d 'From how many missing commits on to say so; from three times as many on it is critical' -r
complete -c branch-divergence -l step -d 'By how much the count must have moved to be said again' -r
complete -c branch-divergence -l remote -d 'The remote to ask [default: origin, or the only one there is]' -r
complete -c branch-divergence -s C -d 'The checkout to watch [default: the current folder]' -r -F
complete -c branch-divergence -l fetch-timeout -d 'How long a call to the remote may take' -r
complete -c branch-divergence -l cursor -d 'Remember in FILE what was said, for the next run' -r -F
complete -c branch-divergence -l emit -d 'Print `events`: changes; or `readings`: all that holds, at each look' -r -f -a "events\t'What changed'
readings\t'All that holds, once a look, for `wake`'"
complete -c branch-divergence -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c branch-divergence -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c branch-divergence -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c branch-divergence -l parent-pid -d 'End when this process ends' -r
complete -c branch-divergence -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c branch-divergence -l conflicts -d 'Say whether a merge with the base would conflict (git 2.38 or newer)'
complete -c branch-divergence -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c branch-divergence -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c branch-divergence -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c branch-divergence -l no-announce -d 'Don\'t'
complete -c branch-divergence -s h -l help -d 'Print help'
complete -c branch-divergence -s V -l version -d 'Print version'
