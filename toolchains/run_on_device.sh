#!/bin/sh
# Runs the tests, benchmarks or a personalisation on a device and brings the results back: see --help.
exec python3 -B "$(dirname "$0")/device/main.py" "$@"
