#compdef wake

autoload -U is-at-least

_wake() {
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
'--watch=[Remember what was told under this name, over restarts]:NAME:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--group-wait=[How long an entry waits before its first telling]:D:_default' \
'--group-interval=[The least time from a subject'\''s last line to its next one]:D:_default' \
'--max-wait=[The most that an entry waits]:D:_default' \
'--repeat-interval=[When what still holds is told again]:D:_default' \
'--pending-gate=[Whether entries of a revision wait until nothing of it is pending]:WHETHER:((on\:"They wait"
off\:"They don'\''t"))' \
'--burst=[How many lines may leave at once, 1 to 1000]:N:_default' \
'--refill=[How long it takes until there is room for another line]:D:_default' \
'--stall=[What a condition that stays as it is leads to]:WHAT:((warn\:"One line that says so"
stop\:"The end of the subject"
off\:"Nothing"))' \
'--stall-looks=[After how many equal looks, at least]:N:_default' \
'--stall-after=[And after how long, at least]:D:_default' \
'--floor=[Give a turn after so many quiet looks at a subject all the same]:N:_default' \
'--max-errors=[End a subject after so many looks in a row that did not see it whole]:N:_default' \
'--max-lifetime=[End the watch when it is so old, restarts included]:D:_default' \
'--max-wakes=[End the watch when it has printed so many lines]:N:_default' \
'--max-tokens=[End the watch when its readers have spent so many tokens; needs --acks]:N:_default' \
'--acks=[A file of acknowledgements\: the next line waits for the answer to the last]:PATH:_files' \
'--ack-timeout=[How long an answer is waited for]:D:_default' \
'--busy-retry=[When a busy reader gets its line again]:D:_default' \
'--wait=[Wait this long for the first line, then end; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--keep-going[Don'\''t end a subject at an error that cannot heal]' \
'--rearm[Begin a new watch where the last one ended]' \
'--verbose[Print the quiet verdicts, too]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_wake_commands" \
"*::: :->wake" \
&& ret=0
    case $state in
    (wake)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:wake-command-$line[1]:"
        case $line[1] in
            (ack)
_arguments "${_arguments_options[@]}" : \
'--watch=[The watch that printed the line]:NAME:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--acks=[The file of acknowledgements \[default\: that of the watch\]]:PATH:_files' \
'--claim=[The claim of the line]:C:_default' \
'--result=[What became of it]:R:((dispatched\:"A reader has it"
busy\:"The reader has no time now"
unavailable\:"There is no reader, and there will be none"
completed\:"The reader is done with it"))' \
'--tokens-in=[With completed\: tokens read]:N:_default' \
'--tokens-out=[With completed\: tokens written]:N:_default' \
'--disposition=[With completed\: how the turn went \[default\: success\]]:D:((success\:"As it should"
failure\:"Not as it should"
cancellation\:"It was stopped"
approval_stall\:"It waits for a person"))' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--watch=[The watch]:NAME:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_wake__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:wake-help-command-$line[1]:"
        case $line[1] in
            (ack)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
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

(( $+functions[_wake_commands] )) ||
_wake_commands() {
    local commands; commands=(
'ack:Say what became of a line' \
'status:Print one object that tells how a watch stands' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'wake commands' commands "$@"
}
(( $+functions[_wake__subcmd__ack_commands] )) ||
_wake__subcmd__ack_commands() {
    local commands; commands=()
    _describe -t commands 'wake ack commands' commands "$@"
}
(( $+functions[_wake__subcmd__help_commands] )) ||
_wake__subcmd__help_commands() {
    local commands; commands=(
'ack:Say what became of a line' \
'status:Print one object that tells how a watch stands' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'wake help commands' commands "$@"
}
(( $+functions[_wake__subcmd__help__subcmd__ack_commands] )) ||
_wake__subcmd__help__subcmd__ack_commands() {
    local commands; commands=()
    _describe -t commands 'wake help ack commands' commands "$@"
}
(( $+functions[_wake__subcmd__help__subcmd__help_commands] )) ||
_wake__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'wake help help commands' commands "$@"
}
(( $+functions[_wake__subcmd__help__subcmd__status_commands] )) ||
_wake__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'wake help status commands' commands "$@"
}
(( $+functions[_wake__subcmd__status_commands] )) ||
_wake__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'wake status commands' commands "$@"
}

if [ "$funcstack[1]" = "_wake" ]; then
    _wake "$@"
else
    compdef _wake wake
fi
