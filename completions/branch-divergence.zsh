#compdef branch-divergence

autoload -U is-at-least

_branch-divergence() {
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
'--base=[The branch to compare with; \`auto\`\: the remote'\''s own choice]:B:_default' \
'--poll-interval=[How often to ask the remote]:D:_default' \
'--interval=[How often to ask the remote]:D:_default' \
'--threshold=[From how many missing commits on to say so; from three times as many on it is critical]:N:_default' \
'--step=[By how much the count must have moved to be said again]:N:_default' \
'--remote=[The remote to ask \[default\: origin, or the only one there is\]]:NAME:_default' \
'-C+[The checkout to watch \[default\: the current folder\]]:DIR:_files' \
'--fetch-timeout=[How long a call to the remote may take]:D:_default' \
'--cursor=[Remember in FILE what was said, for the next run]:FILE:_files' \
'--emit=[Print \`events\`\: changes; or \`readings\`\: all that holds, at each look]:WHAT:((events\:"What changed"
readings\:"All that holds, once a look, for \`wake\`"))' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--conflicts[Say whether a merge with the base would conflict (git 2.38 or newer)]' \
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

(( $+functions[_branch-divergence_commands] )) ||
_branch-divergence_commands() {
    local commands; commands=()
    _describe -t commands 'branch-divergence commands' commands "$@"
}

if [ "$funcstack[1]" = "_branch-divergence" ]; then
    _branch-divergence "$@"
else
    compdef _branch-divergence branch-divergence
fi
