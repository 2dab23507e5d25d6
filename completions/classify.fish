complete -c classify -l min -d 'Leave out events below this urgency, but never a `reading`' -r -f -a "immediate\t''
warning\t''
info\t''"
complete -c classify -l audience -d 'Whose share of the events passes [default: all]' -r -f -a "lead\t''
consultant\t''
all\t''"
complete -c classify -l format -d 'In which form; the last two imply that audience' -r -f -a "ndjson\t''
lead\t''
consultant\t''"
complete -c classify -l rules -d 'Rules to try before the built-in ones' -r -F
complete -c classify -l status -d 'With --report: the output of `supervise status`, to sort the monitors by' -r -F
complete -c classify -l max-line -d 'The longest line that is read: 4K to 64M, powers of 1024' -r
complete -c classify -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c classify -l parent-pid -d 'End when this process ends' -r
complete -c classify -l source -d 'The `source` of its own lines, instead of the program\'s name' -r
complete -c classify -l blind-strict -d 'No result path to the consultant while blind'
complete -c classify -l seed-only -d 'With --format lead or consultant: leave out events that the oldest formats have no line for'
complete -c classify -l print-rules -d 'Print the rules in force, as `--rules` takes them, and exit'
complete -c classify -l report -d 'Read all input, then print one object of all events by urgency'
complete -c classify -l quiet -d 'With --report: print nothing when there is nothing to tell'
complete -c classify -l exit-code -d 'At the end, exit with 10 if anything was immediate (or a monitor is dead), 11 if anything was a warning (or malformed)'
complete -c classify -s h -l help -d 'Print help'
complete -c classify -s V -l version -d 'Print version'
