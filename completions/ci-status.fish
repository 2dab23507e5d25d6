complete -c ci-status -l run-id -d 'A workflow run, by id or address; may be given several times' -r
complete -c ci-status -l pr -d 'A pull request, by number or address; may be given several times' -r
complete -c ci-status -l commit -d 'A commit, by its 40 digits or address; may be given several times' -r
complete -c ci-status -l repo -d 'The repository, as [HOST/]OWNER/NAME [default: `GH_REPO`, or the work tree\'s]' -r
complete -c ci-status -l poll-interval -l interval -d 'How often to ask [default: 15s for runs, 30s for the others]' -r
complete -c ci-status -l settle -d 'How long the set of checks must stand before it can be a success; 0: not at all' -r
complete -c ci-status -l no-checks-grace -d 'How long to wait for a first check' -r
complete -c ci-status -l deadline -d 'Give up after this long, with a line that says so' -r
complete -c ci-status -l cursor -d 'Remember in FILE what was said, for the next run' -r -F
complete -c ci-status -l store -d 'Where programs share when GitHub wants to be left alone [default: the state folder]' -r -F
complete -c ci-status -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c ci-status -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c ci-status -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c ci-status -l parent-pid -d 'End when this process ends' -r
complete -c ci-status -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c ci-status -l required -d 'Judge the checks that the base branch requires, and no others'
complete -c ci-status -l fail-fast -d 'End at the first failure, though others still run: the default'
complete -c ci-status -l wait-all -d 'Wait for the other checks when one has failed'
complete -c ci-status -l allow-no-checks -d 'Call it a success when there is none'
complete -c ci-status -l pin-head -d 'End when the pull request gets another head, instead of starting over'
complete -c ci-status -l exit-code -d 'Say by the exit code what it came to: 0 success, 10 to 17 else'
complete -c ci-status -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c ci-status -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c ci-status -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c ci-status -l no-announce -d 'Don\'t'
complete -c ci-status -s h -l help -d 'Print help'
complete -c ci-status -s V -l version -d 'Print version'
