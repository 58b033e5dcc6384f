#!/bin/sh
# Installs what Topwork needs on Debian. Without root it prints the one line to run and exits with 1.
#
# Usage: toolchains/install-deps.sh [build] [test] [python]
#   build   compilers and libraries that build the library and the command line (always included)
#   test    what tests/run.sh needs besides: lints, second compiler, cross compiler, emulators
#   python  build/.venv with tests/requirements.txt: packages that tests compare Topwork with
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

packages="cmake ninja-build g++ ccache git ca-certificates libeigen3-dev flatbuffers-compiler \
libflatbuffers-dev libcli11-dev nlohmann-json3-dev libstb-dev zlib1g-dev"
python=no
for part in "$@"; do
  case "$part" in
    build) ;;
    test) packages="$packages catch2 clang clang-format pkg-config qemu-user-static \
g++-aarch64-linux-gnu python3 python3-venv util-linux" ;;
    python) python=yes; packages="$packages python3 python3-venv" ;;
    *) echo "install-deps.sh: unknown part '$part' (build, test, python)" >&2; exit 2 ;;
  esac
done

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$state" = "install ok installed" ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  if ! command -v apt-get >/dev/null; then
    echo "This script knows Debian only. Install the equivalents of:$missing" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "Packages are missing. Run this, then start again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
  fi
  echo "Installing:$missing"
  apt-get update -q
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
fi

if [ "$python" = yes ]; then
  venv="$root/build/.venv"
  wanted="$root/tests/requirements.txt"
  if ! cmp -s "$wanted" "$venv/installed.txt"; then
    echo "Installing Python packages into build/.venv"
    mkdir -p "$root/build"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$venv/installed.txt"
  fi
fi
