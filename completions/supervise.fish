# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_supervise_global_optspecs
    string join \n h/help V/version
end

function __fish_supervise_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_supervise_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_supervise_using_subcommand
    set -l cmd (__fish_supervise_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c supervise -n "__fish_supervise_needs_command" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_needs_command" -s V -l version -d 'Print version'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "start" -d 'Start a monitor detached, and return when it is proven'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "spawn" -d 'Start the four monitors of an orchestration, or those of a manifest'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "spawn-ci" -d 'Start ci-status for a run or a pull request; it ends by itself'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "status" -d 'Say how monitors are, changing nothing'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "follow" -d 'Print monitors\' lines, from the first of the current run on'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "check" -d 'Report what is new since the last check, by urgency'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "stop" -d 'Stop monitors and all that they started'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "up" -d 'Run the four monitors in the foreground, classified, until Ctrl-C'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "exec" -d 'Record this process in a file and become a command'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c supervise -n "__fish_supervise_using_subcommand start" -l restart -d 'Start it again when it dies, at most so often within an hour' -r
complete -c supervise -n "__fish_supervise_using_subcommand start" -l ready -d 'What proves it: READY=1 on $`NOTIFY_SOCKET`, or being alive after 100 ms' -r
complete -c supervise -n "__fish_supervise_using_subcommand start" -l ready-timeout -d 'Give up when it is not proven within this time' -r
complete -c supervise -n "__fish_supervise_using_subcommand start" -l log-max -d 'Rotate the log at this size' -r
complete -c supervise -n "__fish_supervise_using_subcommand start" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand start" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand start" -l ends -d 'It ends by itself: exiting with 0 is then no death'
complete -c supervise -n "__fish_supervise_using_subcommand start" -l replace -d 'Stop a monitor of this name that runs another command first'
complete -c supervise -n "__fish_supervise_using_subcommand start" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand spawn" -l state-dir -d 'The folder that the monitors watch, instead of .agent-atelier' -r
complete -c supervise -n "__fish_supervise_using_subcommand spawn" -l base -d 'The base branch whose distance is watched' -r
complete -c supervise -n "__fish_supervise_using_subcommand spawn" -l manifest -d 'A Claude Code monitors.json to take the monitors from instead' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand spawn" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand spawn" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand spawn" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand spawn-ci" -l run-id -d 'A run of GitHub Actions' -r
complete -c supervise -n "__fish_supervise_using_subcommand spawn-ci" -l pr -d 'A pull request' -r
complete -c supervise -n "__fish_supervise_using_subcommand spawn-ci" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand spawn-ci" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand spawn-ci" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand status" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand status" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand status" -l table -d 'A table for a person instead of JSON'
complete -c supervise -n "__fish_supervise_using_subcommand status" -l watch -d 'Draw the table anew every second, until Ctrl-C'
complete -c supervise -n "__fish_supervise_using_subcommand status" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand follow" -l parent-pid -d 'End when this process ends' -r
complete -c supervise -n "__fish_supervise_using_subcommand follow" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand follow" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand follow" -l new -d 'Only lines that come from now on'
complete -c supervise -n "__fish_supervise_using_subcommand follow" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand check" -l reader -d 'Who reads: each reader is told everything once' -r
complete -c supervise -n "__fish_supervise_using_subcommand check" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand check" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand check" -l peek -d 'Report, and remember nothing'
complete -c supervise -n "__fish_supervise_using_subcommand check" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand stop" -l grace -d 'How long they have between TERM and KILL' -r
complete -c supervise -n "__fish_supervise_using_subcommand stop" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand stop" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand stop" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand up" -l state-dir -d 'The folder that the monitors watch, instead of .agent-atelier' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -l base -d 'The base branch whose distance is watched' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -l manifest -d 'A Claude Code monitors.json to take the monitors from instead' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand up" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand up" -l scope -d 'A name for this group of monitors, instead of one for the work tree one stands in' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -l min -d 'Leave out lines below this urgency' -r -f -a "immediate\t''
warning\t''
info\t''"
complete -c supervise -n "__fish_supervise_using_subcommand up" -l parent-pid -d 'End when this process ends' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand exec" -l record -d 'The file to record this process in' -r -F
complete -c supervise -n "__fish_supervise_using_subcommand exec" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "start" -d 'Start a monitor detached, and return when it is proven'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "spawn" -d 'Start the four monitors of an orchestration, or those of a manifest'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "spawn-ci" -d 'Start ci-status for a run or a pull request; it ends by itself'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "status" -d 'Say how monitors are, changing nothing'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "follow" -d 'Print monitors\' lines, from the first of the current run on'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "check" -d 'Report what is new since the last check, by urgency'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "stop" -d 'Stop monitors and all that they started'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "up" -d 'Run the four monitors in the foreground, classified, until Ctrl-C'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "exec" -d 'Record this process in a file and become a command'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from start spawn spawn-ci status follow check stop up exec help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
