#!/bin/sh
# One command that installs, builds and tests everything; it ends with CTest's summary and a table of
# where the time went.
#
# Usage: tests/run.sh [--long] [CTest arguments: -R, -E, -L or -LE REGEX, -j N, -V, -N, --rerun-failed and the like]
#   --long   every test in every build, and what takes minutes and seldom fails (tests/README.md)
# Builds into build/<preset>: release, asan-ubsan (by clang), tsan, minsize, selected (minsize with a selection),
# jetson (aarch64, run under qemu) and, for --long, clang, least (minsize with short loops), armv7, riscv64 and
# ppc64le (under qemu, too), zig's flavours, and Debian packages. A build that fails makes its tests fail. Needs root
# only when Debian packages are missing.
# Tests that need something this machine lacks print SKIP and why.
set -eu
cd "$(dirname "$0")/.."
jobs=${TOPWORK_JOBS:-$(nproc)}
failed=""
long=OFF

# CTest runs everything where it does not know an argument, so what it takes is listed here.
refuse() {
  echo "run.sh: $1. tests/run.sh --help says what it takes; nothing was installed or built." >&2
  exit 2
}
before=""  # the argument that waits for its value
for argument in "$@"; do
  shift
  if [ -n "$before" ]; then
    before=""
  else
    case "$argument" in
      -h | --help) sed -n '2,12s/^# \{0,1\}//p' tests/run.sh; exit 0 ;;
      --long) long=ON; continue ;;
      -R | -E | -L | -LE | -FA | -FS | -FC | -I | -j | -O | --tests-regex | --exclude-regex | --label-regex | \
        --label-exclude | --parallel | --repeat | --timeout | --stop-time | --test-load | --output-log | \
        --output-junit) before=$argument ;;
      -j[0-9]* | -V | -VV | -Q | -N | -U | --verbose | --extra-verbose | --quiet | --show-only* | --progress | \
        --rerun-failed | --stop-on-failure | --schedule-random | --print-labels | --no-tests=*) ;;
      *) refuse "unknown argument '$argument'" ;;
    esac
  fi
  set -- "$@" "$argument"
done
[ -z "$before" ] || refuse "$before has no value after it"

if [ "$long" = ON ]; then
  toolchains/install-deps.sh test long
else
  toolchains/install-deps.sh test
fi
# An OpenCL driver was installed just now: tests that do not find it fail instead of being skipped.
export TOPWORK_REQUIRE_OPENCL=1
toolchains/install-deps.sh python ||
  echo "No Python packages (see above): comparisons with other software will be skipped." >&2

mkdir -p build
times=build/times.txt
rm -f "$times"
measure() { python3 -B tests/measure.py run "$times" "$@"; }

# build PRESET "TARGETS" "PRODUCT" [configure arguments...]: removes a stale product when it fails.
build() {
  preset=$1 targets=$2 product=$3
  shift 3
  echo "== build $preset"
  # shellcheck disable=SC2086
  if cmake --preset "$preset" "$@" >"build/$preset.log" 2>&1 &&
    measure "build $preset" cmake --build --preset "$preset" -j "$jobs" --target $targets \
      >>"build/$preset.log" 2>&1; then
    tail -n 1 "$times"
  else
    tail -n 40 "build/$preset.log"
    echo "   FAILED; the whole output is in build/$preset.log"
    rm -f "build/$preset/$product"
    failed="$failed $preset"
  fi
}

# What each build tests: by default what could fail there alone; for stages toolchains/stages.toml says it.
files() {
  if [ "$long" = ON ]; then set -- "$1" --long; fi
  python3 -B toolchains/device/stages.py files "$@"
}
threads="runtime/base/thread;runtime/session/;runtime/api/(threads|session)_;models/format/pack_cache"
threads="$threads;runtime/train/(features|fit)/;kernels/train/;kernels/ops/.*/(conv_2d|fully_connected)_test"
some_sets="baseline;avx2;eigen"
one_set="baseline"
command=""
if [ "$long" = ON ]; then
  threads="" some_sets="" one_set="" command=topwork_cli
fi
build release "all topwork_tests" topwork_tests -DTOPWORK_SIBLINGS=ON "-DTOPWORK_LONG_TESTS=$long" \
  -DTOPWORK_EIGEN=ON
build asan-ubsan topwork_tests topwork_tests "-DTOPWORK_ONLY_ISAS=$some_sets" \
  -DTOPWORK_EIGEN=ON
build tsan topwork_tests topwork_tests "-DTOPWORK_ONLY_ISAS=$one_set" "-DTOPWORK_TEST_FILES=$threads"
build minsize libtopwork.so libtopwork.so
{ python3 -B toolchains/select.py --train --quantize --calls ports/examples/run_model.c \
    --calls ports/examples/train_head.c models/zoo/digits_cnn_f32.tflite
  python3 -B toolchains/select.py models/zoo/efficientnet_lite0_fp16.tflite; } >build/selected.selection
build selected "topwork_cli libtopwork.so" topwork
build jetson "libtopwork.so topwork_tests $command" topwork_tests "-DTOPWORK_TEST_FILES=$(files jetson)"
if [ "$long" = ON ]; then
  # Compiled one by one: each file must include what it uses.
  build clang "libtopwork.so topwork_tests $command" topwork_tests -DTOPWORK_UNITY=OFF
  build least topwork_cli topwork
  build armv7 "libtopwork.so topwork_tests $command" topwork_tests
  for preset in riscv64 ppc64le; do
    build "$preset" "libtopwork.so topwork_tests $command" topwork_tests \
      "-DTOPWORK_TEST_FILES=$(files "$preset")"
  done
  for preset in x86_64-musl armv7-zig; do
    build "$preset" "libtopwork.so topwork_tests $command" topwork_tests
  done
  build aarch64-musl "libtopwork.so topwork_tests $command" topwork_tests \
    "-DTOPWORK_TEST_FILES=$(files aarch64-musl)"
  build jetson-zig "libtopwork.so $command" libtopwork.so
  echo "== Debian packages"
  measure "build packages" ports/jetson/build.sh amd64 arm64 || failed="$failed packages"
fi

[ -z "$failed" ] || echo "Builds that failed:$failed"
measure tests ctest --test-dir build/release --output-on-failure --no-tests=error -j "$jobs" "$@" ||
  failed="$failed ctest"
python3 -B tests/measure.py table "$times"
python3 -B toolchains/device/table.py
[ -z "$failed" ]
