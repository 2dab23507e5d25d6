# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_relay_global_optspecs
    string join \n h/help V/version
end

function __fish_relay_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_relay_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_relay_using_subcommand
    set -l cmd (__fish_relay_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c relay -n "__fish_relay_needs_command" -s h -l help -d 'Print help'
complete -c relay -n "__fish_relay_needs_command" -s V -l version -d 'Print version'
complete -c relay -n "__fish_relay_needs_command" -f -a "pub" -d 'Publish every line of stdin'
complete -c relay -n "__fish_relay_needs_command" -f -a "sub" -d 'Print every message'
complete -c relay -n "__fish_relay_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c relay -n "__fish_relay_using_subcommand pub" -l stream -d 'The stream' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l server -d 'A server, `nats://HOST:PORT` or `tls://HOST:PORT`, may be given several times; the default is what `NATS_URL` lists, or 127.0.0.1' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l creds -d 'The credentials file; the default is `NATS_CREDS`' -r -F
complete -c relay -n "__fish_relay_using_subcommand pub" -l tls-ca -d 'Use TLS, and also trust the certificates in this file' -r -F
complete -c relay -n "__fish_relay_using_subcommand pub" -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l parent-pid -d 'End when this process ends' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l source -d 'The `source` of its own lines, instead of the program\'s name' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l subject -d 'The subject of a line, with {host}, {source}, {event} and {urgency}' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l replicas -d 'With --create: on how many servers each message is, 1 to 5' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l max-age -d 'With --create: for how long a message is kept' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l spool -d 'Where lines wait for a server' -r -F
complete -c relay -n "__fish_relay_using_subcommand pub" -l spool-max -d 'How much waits there before reading stops: 256K to 1024G, powers of 1024' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l drain-timeout -d 'How long to go on sending after the end of the input' -r
complete -c relay -n "__fish_relay_using_subcommand pub" -l create -d 'Create the stream if it doesn\'t exist'
complete -c relay -n "__fish_relay_using_subcommand pub" -s h -l help -d 'Print help'
complete -c relay -n "__fish_relay_using_subcommand sub" -l stream -d 'The stream' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l server -d 'A server, `nats://HOST:PORT` or `tls://HOST:PORT`, may be given several times; the default is what `NATS_URL` lists, or 127.0.0.1' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l creds -d 'The credentials file; the default is `NATS_CREDS`' -r -F
complete -c relay -n "__fish_relay_using_subcommand sub" -l tls-ca -d 'Use TLS, and also trust the certificates in this file' -r -F
complete -c relay -n "__fish_relay_using_subcommand sub" -l max-runtime -d 'End cleanly after this long, with a line that says so' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l parent-pid -d 'End when this process ends' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l source -d 'The `source` of its own lines, instead of the program\'s name' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l durable -d 'The durable consumer, which remembers what was read' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l subject -d 'Only these subjects, `*` for a token, `>` for the rest; may be given several times' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l from -d 'Where a new durable begins: new, all, a sequence number, or a time (RFC 3339)' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l batch -d 'How many messages are asked for at once, 1 to 10000' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l ack-wait -d 'When a message that was not acknowledged comes again' -r
complete -c relay -n "__fish_relay_using_subcommand sub" -l dedup -d 'Remember the last message written, and drop what comes again' -r -F
complete -c relay -n "__fish_relay_using_subcommand sub" -l share -d 'Let several readers share the durable; each message goes to one of them'
complete -c relay -n "__fish_relay_using_subcommand sub" -l annotate -d 'Add `relay_stream`, `relay_seq` and `relay_received_at` to each line'
complete -c relay -n "__fish_relay_using_subcommand sub" -l once -d 'Print what is there, then exit'
complete -c relay -n "__fish_relay_using_subcommand sub" -s h -l help -d 'Print help'
complete -c relay -n "__fish_relay_using_subcommand help; and not __fish_seen_subcommand_from pub sub help" -f -a "pub" -d 'Publish every line of stdin'
complete -c relay -n "__fish_relay_using_subcommand help; and not __fish_seen_subcommand_from pub sub help" -f -a "sub" -d 'Print every message'
complete -c relay -n "__fish_relay_using_subcommand help; and not __fish_seen_subcommand_from pub sub help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
