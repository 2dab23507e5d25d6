# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_wake_global_optspecs
    string join \n watch= store= source= group-wait= group-interval= max-wait= repeat-interval= pending-gate= burst= refill= stall= stall-looks= stall-after= floor= max-errors= keep-going max-lifetime= max-wakes= max-tokens= acks= ack-timeout= busy-retry= rearm verbose wait= max-runtime= alive= parent-pid= h/help V/version
end

function __fish_wake_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_wake_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_wake_using_subcommand
    set -l cmd (__fish_wake_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c wake -n "__fish_wake_needs_command" -l watch -d 'Remember what was told under this name, over restarts' -r
complete -c wake -n "__fish_wake_needs_command" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c wake -n "__fish_wake_needs_command" -l source -d 'The `source` of every line, instead of the program\'s name' -r
complete -c wake -n "__fish_wake_needs_command" -l group-wait -d 'How long an entry waits before its first telling' -r
complete -c wake -n "__fish_wake_needs_command" -l group-interval -d 'The least time from a subject\'s last line to its next one' -r
complete -c wake -n "__fish_wake_needs_command" -l max-wait -d 'The most that an entry waits' -r
complete -c wake -n "__fish_wake_needs_command" -l repeat-interval -d 'When what still holds is told again' -r
complete -c wake -n "__fish_wake_needs_command" -l pending-gate -d 'Whether entries of a revision wait until nothing of it is pending' -r -f -a "on\t'They wait'
off\t'They don\'t'"
complete -c wake -n "__fish_wake_needs_command" -l burst -d 'How many lines may leave at once, 1 to 1000' -r
complete -c wake -n "__fish_wake_needs_command" -l refill -d 'How long it takes until there is room for another line' -r
complete -c wake -n "__fish_wake_needs_command" -l stall -d 'What a condition that stays as it is leads to' -r -f -a "warn\t'One line that says so'
stop\t'The end of the subject'
off\t'Nothing'"
complete -c wake -n "__fish_wake_needs_command" -l stall-looks -d 'After how many equal looks, at least' -r
complete -c wake -n "__fish_wake_needs_command" -l stall-after -d 'And after how long, at least' -r
complete -c wake -n "__fish_wake_needs_command" -l floor -d 'Give a turn after so many quiet looks at a subject all the same' -r
complete -c wake -n "__fish_wake_needs_command" -l max-errors -d 'End a subject after so many looks in a row that did not see it whole' -r
complete -c wake -n "__fish_wake_needs_command" -l max-lifetime -d 'End the watch when it is so old, restarts included' -r
complete -c wake -n "__fish_wake_needs_command" -l max-wakes -d 'End the watch when it has printed so many lines' -r
complete -c wake -n "__fish_wake_needs_command" -l max-tokens -d 'End the watch when its readers have spent so many tokens; needs --acks' -r
complete -c wake -n "__fish_wake_needs_command" -l acks -d 'A file of acknowledgements: the next line waits for the answer to the last' -r -F
complete -c wake -n "__fish_wake_needs_command" -l ack-timeout -d 'How long an answer is waited for' -r
complete -c wake -n "__fish_wake_needs_command" -l busy-retry -d 'When a busy reader gets its line again' -r
complete -c wake -n "__fish_wake_needs_command" -l wait -d 'Wait this long for the first line, then end; exit 3 without one' -r
complete -c wake -n "__fish_wake_needs_command" -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c wake -n "__fish_wake_needs_command" -l alive -d 'Print `monitor_alive` when nothing was printed for this long' -r
complete -c wake -n "__fish_wake_needs_command" -l parent-pid -d 'End when this process ends' -r
complete -c wake -n "__fish_wake_needs_command" -l keep-going -d 'Don\'t end a subject at an error that cannot heal'
complete -c wake -n "__fish_wake_needs_command" -l rearm -d 'Begin a new watch where the last one ended'
complete -c wake -n "__fish_wake_needs_command" -l verbose -d 'Print the quiet verdicts, too'
complete -c wake -n "__fish_wake_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wake -n "__fish_wake_needs_command" -s V -l version -d 'Print version'
complete -c wake -n "__fish_wake_needs_command" -f -a "ack" -d 'Say what became of a line'
complete -c wake -n "__fish_wake_needs_command" -f -a "status" -d 'Print one object that tells how a watch stands'
complete -c wake -n "__fish_wake_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c wake -n "__fish_wake_using_subcommand ack" -l watch -d 'The watch that printed the line' -r
complete -c wake -n "__fish_wake_using_subcommand ack" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c wake -n "__fish_wake_using_subcommand ack" -l acks -d 'The file of acknowledgements [default: that of the watch]' -r -F
complete -c wake -n "__fish_wake_using_subcommand ack" -l claim -d 'The claim of the line' -r
complete -c wake -n "__fish_wake_using_subcommand ack" -l result -d 'What became of it' -r -f -a "dispatched\t'A reader has it'
busy\t'The reader has no time now'
unavailable\t'There is no reader, and there will be none'
completed\t'The reader is done with it'"
complete -c wake -n "__fish_wake_using_subcommand ack" -l tokens-in -d 'With completed: tokens read' -r
complete -c wake -n "__fish_wake_using_subcommand ack" -l tokens-out -d 'With completed: tokens written' -r
complete -c wake -n "__fish_wake_using_subcommand ack" -l disposition -d 'With completed: how the turn went [default: success]' -r -f -a "success\t'As it should'
failure\t'Not as it should'
cancellation\t'It was stopped'
approval_stall\t'It waits for a person'"
complete -c wake -n "__fish_wake_using_subcommand ack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wake -n "__fish_wake_using_subcommand status" -l watch -d 'The watch' -r
complete -c wake -n "__fish_wake_using_subcommand status" -l store -d 'The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell' -r -F
complete -c wake -n "__fish_wake_using_subcommand status" -s h -l help -d 'Print help'
complete -c wake -n "__fish_wake_using_subcommand help; and not __fish_seen_subcommand_from ack status help" -f -a "ack" -d 'Say what became of a line'
complete -c wake -n "__fish_wake_using_subcommand help; and not __fish_seen_subcommand_from ack status help" -f -a "status" -d 'Print one object that tells how a watch stands'
complete -c wake -n "__fish_wake_using_subcommand help; and not __fish_seen_subcommand_from ack status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
