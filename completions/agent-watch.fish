complete -c agent-watch -l items -d 'The registry of agents; - is stdin' -r -F
complete -c agent-watch -l poll-interval -l interval -d 'Look at every item at least this often' -r
complete -c agent-watch -l idle-stall -d 'Silence that makes a stall, when the item gives none' -r
complete -c agent-watch -l settle -d 'Quiet time after which a result counts as whole' -r
complete -c agent-watch -l settle-open -d 'The same while a writer is known to hold it open' -r
complete -c agent-watch -l death-grace -d 'Between an exit and `process_died`, for a result still on its way' -r
complete -c agent-watch -l pid-grace -d 'Before a missing pid file is told' -r
complete -c agent-watch -l margin -d 'Percent of the time limit at which `timeout_imminent` comes' -r
complete -c agent-watch -l base-dir -d 'The folder of relative paths in items [default: the working directory]' -r -F
complete -c agent-watch -l until -d 'Exit when all items ended, or the first' -r -f -a "all-terminal\t''
any-terminal\t''"
complete -c agent-watch -l wait -d 'Wait this long for the first look that gives an event; exit 3 without one' -r
complete -c agent-watch -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c agent-watch -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c agent-watch -l parent-pid -d 'End when this process ends' -r
complete -c agent-watch -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c agent-watch -l no-settle -d 'A file that is not empty is a result'
complete -c agent-watch -l count-suspend -d 'Charge suspended time to the agent'
complete -c agent-watch -l rewrites -d 'Tell each later settled version of a result, too'
complete -c agent-watch -l once -d 'Look once, print what it shows, and exit: 0 if the look was complete, 4 if not'
complete -c agent-watch -l poll-only -d 'Don\'t ask the system for changes, only look at every interval'
complete -c agent-watch -l announce -d 'Say when the watch begins and ends, and what it doesn\'t cover'
complete -c agent-watch -l no-announce -d 'Don\'t'
complete -c agent-watch -s h -l help -d 'Print help'
complete -c agent-watch -s V -l version -d 'Print version'
