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
            (start)
_arguments "${_arguments_options[@]}" : \
'--restart=[Start it again when it dies, at most so often within an hour]:N:_default' \
'--ready=[What proves it\: READY=1 on \$\`NOTIFY_SOCKET\`, or being alive after 100 ms]:HOW:_default' \
'--ready-timeout=[Give up when it is not proven within this time]:D:_default' \
'--log-max=[Rotate the log at this size]:SIZE:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'--ends[It ends by itself\: exiting with 0 is then no death]' \
'--replace[Stop a monitor of this name that runs another command first]' \
'-h[Print help]' \
'--help[Print help]' \
':name -- The monitor'\''s name:_default' \
'*::command -- The command and its arguments, after `--`:_default' \
&& ret=0
;;
(spawn)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[The folder that the monitors watch, instead of .agent-atelier]:DIR:_default' \
'--base=[The base branch whose distance is watched]:BRANCH:_default' \
'(--state-dir --base)--manifest=[A Claude Code monitors.json to take the monitors from instead]:FILE:_files' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(spawn-ci)
_arguments "${_arguments_options[@]}" : \
'--run-id=[A run of GitHub Actions]:ID:_default' \
'--pr=[A pull request]:N:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'--table[A table for a person instead of JSON]' \
'--watch[Draw the table anew every second, until Ctrl-C]' \
'-h[Print help]' \
'--help[Print help]' \
'*::names -- The monitors; none is all:_default' \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
'--parent-pid=[End when this process ends]:PID:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'--new[Only lines that come from now on]' \
'-h[Print help]' \
'--help[Print help]' \
'*::names -- The monitors, or `all`:_default' \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
'--reader=[Who reads\: each reader is told everything once]:NAME:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'--peek[Report, and remember nothing]' \
'-h[Print help]' \
'--help[Print help]' \
'::task_ids -- An object of names and task ids, to report of these alone:_default' \
&& ret=0
;;
(stop)
_arguments "${_arguments_options[@]}" : \
'--grace=[How long they have between TERM and KILL]:D:_default' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'-h[Print help]' \
'--help[Print help]' \
'*::names -- The monitors, or `all`:_default' \
&& ret=0
;;
(up)
_arguments "${_arguments_options[@]}" : \
'--state-dir=[The folder that the monitors watch, instead of .agent-atelier]:DIR:_default' \
'--base=[The base branch whose distance is watched]:BRANCH:_default' \
'(--state-dir --base)--manifest=[A Claude Code monitors.json to take the monitors from instead]:FILE:_files' \
'--store=[The root of all state, instead of \$\`DOORBELL_STORE\` or ~/.local/state/doorbell]:DIR:_files' \
'--scope=[A name for this group of monitors, instead of one for the work tree one stands in]:NAME:_default' \
'--min=[Leave out lines below this urgency]:URGENCY:(immediate warning info)' \
'--parent-pid=[End when this process ends]:PID:_default' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(exec)
_arguments "${_arguments_options[@]}" : \
'--record=[The file to record this process in]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'*::command -- The command and its arguments, after `--`:_default' \
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
            (start)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(spawn)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(spawn-ci)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(stop)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(up)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(exec)
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
'start:Start a monitor detached, and return when it is proven' \
'spawn:Start the four monitors of an orchestration, or those of a manifest' \
'spawn-ci:Start ci-status for a run or a pull request; it ends by itself' \
'status:Say how monitors are, changing nothing' \
'follow:Print monitors'\'' lines, from the first of the current run on' \
'check:Report what is new since the last check, by urgency' \
'stop:Stop monitors and all that they started' \
'up:Run the four monitors in the foreground, classified, until Ctrl-C' \
'exec:Record this process in a file and become a command' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'supervise commands' commands "$@"
}
(( $+functions[_supervise__subcmd__check_commands] )) ||
_supervise__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'supervise check commands' commands "$@"
}
(( $+functions[_supervise__subcmd__exec_commands] )) ||
_supervise__subcmd__exec_commands() {
    local commands; commands=()
    _describe -t commands 'supervise exec commands' commands "$@"
}
(( $+functions[_supervise__subcmd__follow_commands] )) ||
_supervise__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'supervise follow commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help_commands] )) ||
_supervise__subcmd__help_commands() {
    local commands; commands=(
'start:Start a monitor detached, and return when it is proven' \
'spawn:Start the four monitors of an orchestration, or those of a manifest' \
'spawn-ci:Start ci-status for a run or a pull request; it ends by itself' \
'status:Say how monitors are, changing nothing' \
'follow:Print monitors'\'' lines, from the first of the current run on' \
'check:Report what is new since the last check, by urgency' \
'stop:Stop monitors and all that they started' \
'up:Run the four monitors in the foreground, classified, until Ctrl-C' \
'exec:Record this process in a file and become a command' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'supervise help commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__check_commands] )) ||
_supervise__subcmd__help__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help check commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__exec_commands] )) ||
_supervise__subcmd__help__subcmd__exec_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help exec commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__follow_commands] )) ||
_supervise__subcmd__help__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help follow commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__help_commands] )) ||
_supervise__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help help commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__spawn_commands] )) ||
_supervise__subcmd__help__subcmd__spawn_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help spawn commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__spawn-ci_commands] )) ||
_supervise__subcmd__help__subcmd__spawn-ci_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help spawn-ci commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__start_commands] )) ||
_supervise__subcmd__help__subcmd__start_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help start commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__status_commands] )) ||
_supervise__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help status commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__stop_commands] )) ||
_supervise__subcmd__help__subcmd__stop_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help stop commands' commands "$@"
}
(( $+functions[_supervise__subcmd__help__subcmd__up_commands] )) ||
_supervise__subcmd__help__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'supervise help up commands' commands "$@"
}
(( $+functions[_supervise__subcmd__spawn_commands] )) ||
_supervise__subcmd__spawn_commands() {
    local commands; commands=()
    _describe -t commands 'supervise spawn commands' commands "$@"
}
(( $+functions[_supervise__subcmd__spawn-ci_commands] )) ||
_supervise__subcmd__spawn-ci_commands() {
    local commands; commands=()
    _describe -t commands 'supervise spawn-ci commands' commands "$@"
}
(( $+functions[_supervise__subcmd__start_commands] )) ||
_supervise__subcmd__start_commands() {
    local commands; commands=()
    _describe -t commands 'supervise start commands' commands "$@"
}
(( $+functions[_supervise__subcmd__status_commands] )) ||
_supervise__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'supervise status commands' commands "$@"
}
(( $+functions[_supervise__subcmd__stop_commands] )) ||
_supervise__subcmd__stop_commands() {
    local commands; commands=()
    _describe -t commands 'supervise stop commands' commands "$@"
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
