#!/bin/sh
# One command that installs, builds and tests everything; it ends with CTest's summary.
#
# Usage: tests/run.sh [CTest arguments, e.g. -R unit]
# Builds into build/<preset>: release, asan-ubsan, tsan, clang, minsize, jetson (aarch64, run under
# qemu). A build that fails makes its tests fail. Needs root only when Debian packages are missing.
# Tests that need something this machine lacks print SKIP and why.
set -eu
cd "$(dirname "$0")/.."
jobs=${TOPWORK_JOBS:-$(nproc)}
failed=""

toolchains/install-deps.sh test
# An OpenCL driver was installed just now: tests that do not find it fail instead of being skipped.
export TOPWORK_REQUIRE_OPENCL=1
toolchains/install-deps.sh python ||
  echo "No Python packages (see above): comparisons with other software will be skipped." >&2

# build PRESET "TARGETS" "PRODUCT" [configure arguments...]: removes a stale product when it fails.
build() {
  preset=$1 targets=$2 product=$3
  shift 3
  echo "== build $preset"
  start=$(date +%s)
  # shellcheck disable=SC2086
  if cmake --preset "$preset" "$@" >"build/$preset.log" 2>&1 &&
    cmake --build --preset "$preset" -j "$jobs" --target $targets >>"build/$preset.log" 2>&1; then
    echo "   done in $(($(date +%s) - start)) s"
  else
    tail -n 40 "build/$preset.log"
    echo "   FAILED; the whole output is in build/$preset.log"
    rm -f "build/$preset/$product"
    failed="$failed $preset"
  fi
}

mkdir -p build
build release all topwork_tests -DTOPWORK_SIBLINGS=ON
build asan-ubsan topwork_tests topwork_tests
build tsan topwork_tests topwork_tests
build clang "topwork topwork_tests topwork_cli" topwork_tests
build minsize topwork libtopwork.so
build jetson "topwork topwork_tests" topwork_tests

[ -z "$failed" ] || echo "Builds that failed:$failed"
ctest --test-dir build/release --output-on-failure -j "$jobs" "$@" || failed="$failed ctest"
[ -z "$failed" ]
