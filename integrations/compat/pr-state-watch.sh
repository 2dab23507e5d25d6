#!/bin/sh
# The older loop's line, "PR#N STATE review=DECISION", once a minute at most: PR numbers.
exec pr-state-watch --format text "$@"
