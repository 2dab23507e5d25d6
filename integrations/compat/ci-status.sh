#!/bin/sh
# The older script's name: --run-id or --pr.
exec ci-status "$@"
