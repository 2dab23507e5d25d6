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
complete -c supervise -n "__fish_supervise_needs_command" -f -a "up" -d 'Run the four monitors in the foreground, classified, until Ctrl-C'
complete -c supervise -n "__fish_supervise_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c supervise -n "__fish_supervise_using_subcommand up" -l state-dir -d 'The folder that the monitors watch, instead of .agent-atelier' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -l base -d 'The base branch whose distance is watched' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -l min -d 'Leave out lines below this urgency' -r -f -a "immediate\t''
warning\t''
info\t''"
complete -c supervise -n "__fish_supervise_using_subcommand up" -l parent-pid -d 'End when this process ends' -r
complete -c supervise -n "__fish_supervise_using_subcommand up" -s h -l help -d 'Print help'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from up help" -f -a "up" -d 'Run the four monitors in the foreground, classified, until Ctrl-C'
complete -c supervise -n "__fish_supervise_using_subcommand help; and not __fish_seen_subcommand_from up help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
