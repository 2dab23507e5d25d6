#!/bin/sh
# The older script's name: --state-dir, --filter, --poll-interval.
exec event-tail "$@"
