complete -c nudge -l on -d 'The events that want an answer, separated by commas' -r
complete -c nudge -l after -d 'How long an answer is waited for, each time' -r
complete -c nudge -l max -d 'How often an event is said again at most' -r
complete -c nudge -l acks -d 'A file of acknowledgements, which may be the registry' -r -F
complete -c nudge -l store -d 'Remember what is pending over a restart, below this folder' -r -F
complete -c nudge -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c nudge -l parent-pid -d 'End when this process ends' -r
complete -c nudge -l source -d 'The `source` of its own lines, instead of the program\'s name' -r
complete -c nudge -l drain -d 'At the end of input wait for what is pending'
complete -c nudge -s h -l help -d 'Print help'
complete -c nudge -s V -l version -d 'Print version'
