#compdef collab-tail

autoload -U is-at-least

_collab-tail() {
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
'*--alias=[Another name of the same seat; up to 15]:@NAME:_default' \
'--route=[What counts as addressed\: routed headings and direct lines, or mentions too]:MODE:((strict\:"Only what is anchored on both sides\: routed headings, direct lines"
bounded\:"Mentions, bare recipients and the status of one'\''s own workers, too"))' \
'--self=[Print the listener'\''s own posts, or only remember them \[default\: emit; with bounded\: drop\]]:WHAT:((emit\:"They are printed"
drop\:"They are remembered without a word"))' \
'--repeats=[Whether an equal heading that comes once more is told once more]:WHAT:((none\:"Nothing new"
heading\:"News, if it is a heading and its board holds one more of it than ever"))' \
'--format=[What is printed\: events, or the older tool'\''s records]:FORMAT:((ndjson\:"As NDJSON"
text\:"As the older tool'\''s records"))' \
'--poll-interval=[Look at least this often]:D:_default' \
'--interval=[Look at least this often]:D:_default' \
'--store=[Where this and other programs keep their state]:DIR:_files' \
'--import=[Take over the older tool'\''s folder of this listener, once]:DIR:_files' \
'--wait=[Wait this long for the first look that gives an event; exit 3 without one]:D:_default' \
'--max-runtime=[End cleanly after this long, with a line that says so]:D:_default' \
'--alive=[Print \`monitor_alive\` when nothing was printed for this long]:D:_default' \
'--parent-pid=[End when this process ends]:PID:_default' \
'--source=[The \`source\` of every line, instead of the program'\''s name]:NAME:_default' \
'--unread[Deliver a board that wasn'\''t read before, instead of taking it as history]' \
'(--wait)--once[Look once, print what it shows, and exit\: 0 if the look was complete, 4 if not]' \
'--poll-only[Don'\''t ask the system for changes, only look at every interval]' \
'--announce[Say when the watch begins and ends, and what it doesn'\''t cover]' \
'--no-announce[Don'\''t]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':listener -- Whose mail\: a name, with or without `@`, in either case:_default' \
'*::boards -- The boards; one that isn'\''t there yet is waited for:_files' \
&& ret=0
}

(( $+functions[_collab-tail_commands] )) ||
_collab-tail_commands() {
    local commands; commands=()
    _describe -t commands 'collab-tail commands' commands "$@"
}

if [ "$funcstack[1]" = "_collab-tail" ]; then
    _collab-tail "$@"
else
    compdef _collab-tail collab-tail
fi
