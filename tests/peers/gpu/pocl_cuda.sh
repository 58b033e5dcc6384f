#!/bin/sh
# Builds PoCL for NVIDIA GPUs whose driver has CUDA and no OpenCL (Jetson), into a folder. Takes some ten minutes there.
#
# Usage: tests/peers/gpu/pocl_cuda.sh [FOLDER]   (default: build/pocl_cuda)
# Then: OCL_ICD_VENDORS=FOLDER/etc/OpenCL/vendors POCL_DEVICES=CUDA topwork devices
#
# Needs git, cmake, a C++ compiler, libhwloc's and LLVM's headers (17 to 20, with NVPTX; Debian and Ubuntu: apt install
# git cmake g++ pkg-config libhwloc-dev ocl-icd-opencl-dev llvm-18-dev libclang-18-dev clang-18), NVIDIA's CUDA toolkit.
#   CUDA_HOME     the toolkit; default: /usr/local/cuda
#   LLVM_CONFIG   LLVM's llvm-config; default: the newest of those
#   POCL_SOURCE   PoCL's source; default: it is cloned from github.com/pocl/pocl
# Exit code: 0 made, or made before; 77 something is missing here: it says what.
set -eu
version=v7.0
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${1:-$root/build/pocl_cuda}
ls "$folder"/etc/OpenCL/vendors/*.icd >/dev/null 2>&1 && exit 0

skip() {
  echo "pocl_cuda.sh: $1" >&2
  exit 77
}

cuda=${CUDA_HOME:-/usr/local/cuda}
[ -e "$cuda/include/cuda.h" ] || skip "no CUDA toolkit in $cuda (no include/cuda.h); install it, or set CUDA_HOME"
for tool in git cmake c++ pkg-config; do
  command -v "$tool" >/dev/null || skip "$tool is missing"
done
llvm=${LLVM_CONFIG:-}
for number in 20 19 18 17; do
  [ -n "$llvm" ] || llvm=$(command -v "llvm-config-$number" || true)
done
[ -n "$llvm" ] || skip "LLVM 17 to 20 is missing (apt install llvm-18-dev libclang-18-dev clang-18), or set LLVM_CONFIG"
"$llvm" --targets-built | grep -qw NVPTX || skip "LLVM of $llvm was built without NVPTX"

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
source=${POCL_SOURCE:-$folder/source}
if [ ! -e "$source/CMakeLists.txt" ]; then
  git clone -q --depth 1 --branch "$version" https://github.com/pocl/pocl "$source" ||
    skip "PoCL's source cannot be fetched; set POCL_SOURCE to a folder with it"
fi
# The path of the library in the .icd file is that of the folder, and no other PoCL is looked for.
cmake -S "$source" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$folder" \
  -DENABLE_CUDA=ON -DENABLE_HOST_CPU_DEVICES=OFF -DENABLE_ICD=ON -DENABLE_TESTS=OFF -DENABLE_EXAMPLES=OFF \
  "-DPOCL_INSTALL_ICD_VENDORDIR=$folder/etc/OpenCL/vendors" "-DWITH_LLVM_CONFIG=$llvm" \
  "-DCUDA_TOOLKIT_ROOT_DIR=$cuda" "-DCMAKE_INCLUDE_PATH=$cuda/include" \
  "-DCMAKE_LIBRARY_PATH=$cuda/lib64/stubs;$cuda/lib64" >"$folder/log" 2>&1 &&
  cmake --build "$folder/build" -j "$(nproc)" >>"$folder/log" 2>&1 &&
  cmake --install "$folder/build" >>"$folder/log" 2>&1 || {
  tail -n 20 "$folder/log" >&2
  skip "the build failed (see $folder/log)"
}
ls "$folder"/etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || skip "PoCL installed no .icd file (see $folder/log)"
