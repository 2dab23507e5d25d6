#!/bin/sh
# The older script's name: --state-dir, --poll-interval.
exec heartbeat-watch "$@"
