#compdef supervise

autoload -U is-at-least

_supervise() {
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
":: :_supervise_commands" \
"*::: :->supervise" \
&& ret=0
    case $state in
    (supervise)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:supervise-command-$line[1]:"
        case $line[1] in
            (up)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[The folder that the monitors watch, instead of .agent-atelier]:DIR:_default' \
'--base=[The base branch whose distance is watched]:BRANCH:_default' \
'--min=[Leave out lines below this urgency]:URGENCY:(immediate warning info)' \
'--parent-pid=[End when this process ends]:PID:_default' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_supervise__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:supervise-help-command-$line[1]:"
        case $line[1] in
            (up)
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

(( $+functions[_supervise_commands] )) ||
_supervise_commands() {
    local commands; commands=(
'up:Run the four monitors in the foreground, classified, until Ctrl-C' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'supervise commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help_commands] )) ||
_supervise__subcmd__help_commands() {
    local commands; commands=(
'up:Run the four monitors in the foreground, classified, until Ctrl-C' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'supervise help commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__help_commands] )) ||
_supervise__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help help commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__up_commands] )) ||
_supervise__subcmd__help__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help up commands' commands "$@"
}
(( $+functions[_supervise__subcmd__up_commands] )) ||
_supervise__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'supervise up commands' commands "$@"
}

if [ "$funcstack[1]" = "_supervise" ]; then
    _supervise "$@"
else
    compdef _supervise supervise
fi
