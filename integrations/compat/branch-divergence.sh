#!/bin/sh
# The older script's name: --base, --interval, --threshold.
exec branch-divergence "$@"
