#compdef pr-state-watch

autoload -U is-at-least

_pr-state-watch() {
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
'--repo=[The repository, as \[HOST/\]OWNER/NAME \[default\: \`GH_REPO\`, or the work tree'\''s\]]:REPO:_default' \
'--poll-interval=[How often to ask]:D:_default' \
'--interval=[How often to ask]:D:_default' \
'*--known-red=[A check that is expected to fail, by its name or \`WORKFLOW / NAME\`; may be given several times]:NAME:_default' \
'--emit=[Print \`events\`\: changes; or \`readings\`\: all that holds, at each look]:WHAT:((events\:"What changed"
readings\:"All that holds, once a look, for \`wake\`"))' \
'--format=[Print \`ndjson\`, or \`text\`\: one short line per change of state]:FORM:((ndjson\:"One JSON object per line"
text\:"\`PR#729 OPEN review=NONE\`"))' \
'--cursor=[Remember in FILE what was said, for the next run]:FILE:_files' \
'--store=[Where programs share when GitHub wants to be left alone \[default\: the state folder\]]:DIR:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--ready[Say also what stands in the way of a merge, and when nothing does]' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::targets -- The pull requests, by number or address:_default' \
&& ret=0
}

(( $+functions[_pr-state-watch_commands] )) ||
_pr-state-watch_commands() {
    local commands; commands=()
    _describe -t commands 'pr-state-watch commands' commands "$@"
}

if [ "$funcstack[1]" = "_pr-state-watch" ]; then
    _pr-state-watch "$@"
else
    compdef _pr-state-watch pr-state-watch
fi
