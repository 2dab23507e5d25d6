#compdef probe-watch

autoload -U is-at-least

_probe-watch() {
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
'--probe=[The probe\: a path, or a name on \`PATH\`]:CMD:_default' \
'--objective=[What to wait for, of what the probe knows \[default\: the first it knows\]]:NAME:_default' \
'*--set=[An option of the probe; may be given several times]:NAME=VALUE:_default' \
'--emit=[Print \`events\`\: changes; or \`readings\`\: all that holds, at each look]:WHAT:((events\:"What changed"
readings\:"All that holds, once a look, for \`wake\`"))' \
'--poll-interval=[How long after the end of a look the next one begins, from what the probe allows to 24h]:D:_default' \
'--interval=[How long after the end of a look the next one begins, from what the probe allows to 24h]:D:_default' \
'--call-timeout=[How long the probe may take for one look \[default\: what it says of itself\]]:D:_default' \
'--jobs=[How many looks may be under way at once]:N:_default' \
'--max-backoff=[The longest pause after looks that failed]:D:_default' \
'--cursor=[Remember in FILE what was said, for the next run]:FILE:_files' \
'--store=[Where programs share what wants to be left alone \[default\: the state folder\]]:DIR:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--keep-going[Go on with a subject whose look failed in a way that doesn'\''t heal]' \
'(--once --wait --emit --cursor)--check[Look once, and name every rule of the protocol that the probe breaks]' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::targets -- The subjects, as the probe knows them\: 1 to 1000:_default' \
&& ret=0
}

(( $+functions[_probe-watch_commands] )) ||
_probe-watch_commands() {
    local commands; commands=()
    _describe -t commands 'probe-watch commands' commands "$@"
}

if [ "$funcstack[1]" = "_probe-watch" ]; then
    _probe-watch "$@"
else
    compdef _probe-watch probe-watch
fi
