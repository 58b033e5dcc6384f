#!/bin/sh
# Runs an aarch64 program of a cross build on this machine.
#
# Usage: toolchains/run-qemu.sh [-cpu NAME] PROGRAM [arguments...]
# NAME is a processor of `qemu-aarch64 -cpu help`: cortex-a53 has no dot product, max (the default)
# has everything.
set -eu
cpu=max
if [ "${1:-}" = "-cpu" ]; then
  cpu=${2:?"-cpu needs a name"}
  shift 2
fi
[ $# -gt 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
  echo "run-qemu.sh: qemu-aarch64 is missing (Debian: apt install qemu-user-static)" >&2
  exit 1
}
exec "$qemu" -L /usr/aarch64-linux-gnu -cpu "$cpu" "$@"
