#compdef ci-status

autoload -U is-at-least

_ci-status() {
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
'*--run-id=[A workflow run, by id or address; may be given several times]:ID:_default' \
'*--pr=[A pull request, by number or address; may be given several times]:N:_default' \
'*--commit=[A commit, by its 40 digits or address; may be given several times]:SHA:_default' \
'--repo=[The repository, as \[HOST/\]OWNER/NAME \[default\: \`GH_REPO\`, or the work tree'\''s\]]:REPO:_default' \
'--poll-interval=[How often to ask \[default\: 15s for runs, 30s for the others\]]:D:_default' \
'--interval=[How often to ask \[default\: 15s for runs, 30s for the others\]]:D:_default' \
'--settle=[How long the set of checks must stand before it can be a success; 0\: not at all]:D:_default' \
'--no-checks-grace=[How long to wait for a first check]:D:_default' \
'--deadline=[Give up after this long, with a line that says so]:D:_default' \
'--cursor=[Remember in FILE what was said, for the next run]:FILE:_files' \
'--store=[Where programs share when GitHub wants to be left alone \[default\: the state folder\]]:DIR:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'(--run-id --commit)--required[Judge the checks that the base branch requires, and no others]' \
'--fail-fast[End at the first failure, though others still run\: the default]' \
'--wait-all[Wait for the other checks when one has failed]' \
'--allow-no-checks[Call it a success when there is none]' \
'--pin-head[End when the pull request gets another head, instead of starting over]' \
'--exit-code[Say by the exit code what it came to\: 0 success, 10 to 17 else]' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
}

(( $+functions[_ci-status_commands] )) ||
_ci-status_commands() {
    local commands; commands=()
    _describe -t commands 'ci-status commands' commands "$@"
}

if [ "$funcstack[1]" = "_ci-status" ]; then
    _ci-status "$@"
else
    compdef _ci-status ci-status
fi
