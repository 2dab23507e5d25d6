#compdef relay

autoload -U is-at-least

_relay() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_relay_commands" \
"*::: :->relay" \
&& ret=0
    case $state in
    (relay)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:relay-command-$line[1]:"
        case $line[1] in
            (pub)
_arguments "${_arguments_options[@]}" : \
'--stream=[The stream]:NAME:_default' \
'*--server=[A server, \`nats\://HOST\:PORT\` or \`tls\://HOST\:PORT\`, may be given several times; the default is what \`NATS_URL\` lists, or 127.0.0.1]:URL:_default' \
'--creds=[The credentials file; the default is \`NATS_CREDS\`]:FILE:_files' \
'--tls-ca=[Use TLS, and also trust the certificates in this file]:FILE:_files' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of its own lines, instead of the program'\''s name]:NAME:_default' \
'--subject=[The subject of a line, with {host}, {source}, {event} and {urgency}]:TEMPLATE:_default' \
'--replicas=[With --create\: on how many servers each message is, 1 to 5]:N:_default' \
'--max-age=[With --create\: for how long a message is kept]:D:_default' \
'--spool=[Where lines wait for a server]:DIR:_files' \
'--spool-max=[How much waits there before reading stops\: 256K to 1024G, powers of 1024]:SIZE:_default' \
'--drain-timeout=[How long to go on sending after the end of the input]:D:_default' \
'--create[Create the stream if it doesn'\''t exist]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(sub)
_arguments "${_arguments_options[@]}" : \
'--stream=[The stream]:NAME:_default' \
'*--server=[A server, \`nats\://HOST\:PORT\` or \`tls\://HOST\:PORT\`, may be given several times; the default is what \`NATS_URL\` lists, or 127.0.0.1]:URL:_default' \
'--creds=[The credentials file; the default is \`NATS_CREDS\`]:FILE:_files' \
'--tls-ca=[Use TLS, and also trust the certificates in this file]:FILE:_files' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of its own lines, instead of the program'\''s name]:NAME:_default' \
'--durable=[The durable consumer, which remembers what was read]:NAME:_default' \
'*--subject=[Only these subjects, \`*\` for a token, \`>\` for the rest; may be given several times]:FILTER:_default' \
'--from=[Where a new durable begins\: new, all, a sequence number, or a time (RFC 3339)]:WHERE:_default' \
'--batch=[How many messages are asked for at once, 1 to 10000]:N:_default' \
'--ack-wait=[When a message that was not acknowledged comes again]:D:_default' \
'(--share)--dedup=[Remember the last message written, and drop what comes again]:FILE:_files' \
'--share[Let several readers share the durable; each message goes to one of them]' \
'--annotate[Add \`relay_stream\`, \`relay_seq\` and \`relay_received_at\` to each line]' \
'--once[Print what is there, then exit]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_relay__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:relay-help-command-$line[1]:"
        case $line[1] in
            (pub)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sub)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_relay_commands] )) ||
_relay_commands() {
    local commands; commands=(
'pub:Publish every line of stdin' \
'sub:Print every message' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'relay commands' commands "$@"
}
(( $+functions[_relay__subcmd__help_commands] )) ||
_relay__subcmd__help_commands() {
    local commands; commands=(
'pub:Publish every line of stdin' \
'sub:Print every message' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'relay help commands' commands "$@"
}
(( $+functions[_relay__subcmd__help__subcmd__help_commands] )) ||
_relay__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'relay help help commands' commands "$@"
}
(( $+functions[_relay__subcmd__help__subcmd__pub_commands] )) ||
_relay__subcmd__help__subcmd__pub_commands() {
    local commands; commands=()
    _describe -t commands 'relay help pub commands' commands "$@"
}
(( $+functions[_relay__subcmd__help__subcmd__sub_commands] )) ||
_relay__subcmd__help__subcmd__sub_commands() {
    local commands; commands=()
    _describe -t commands 'relay help sub commands' commands "$@"
}
(( $+functions[_relay__subcmd__pub_commands] )) ||
_relay__subcmd__pub_commands() {
    local commands; commands=()
    _describe -t commands 'relay pub commands' commands "$@"
}
(( $+functions[_relay__subcmd__sub_commands] )) ||
_relay__subcmd__sub_commands() {
    local commands; commands=()
    _describe -t commands 'relay sub commands' commands "$@"
}

if [ "$funcstack[1]" = "_relay" ]; then
    _relay "$@"
else
    compdef _relay relay
fi
