#!/bin/sh
# The older script's name, for the command of the same verbs beside it.
exec "$(dirname "$0")/collab-monitor" "$@"
