#!/bin/sh
# What a GPU makes of Topwork, in at most ten minutes: for a machine that has one for a short while.
#
# Usage: tests/peers/gpu/gpu_day.sh [--topwork FILE] [--out DIR] [--seconds N] [--device NAME] [--litert PYTHON]
#                                   [MODEL...]
#        tests/peers/gpu/gpu_day.sh --carry DIR
#   --topwork FILE  the command; default: build/release/topwork
#   --out DIR       gets gpu_day.json and gpu_day.md, anew after every measurement; default: build/gpu_day
#   --seconds N     begins no measurement later than that; default: 540
#   --device NAME   as for topwork's --device; default: the first OpenCL GPU
#   --litert PYTHON a Python with ai-edge-litert, whose GPU backend (WebGPU) takes turns with Topwork: needs a Vulkan
#                   driver and its loader
#   MODEL...        default: the models of models/zoo, then those of $TOPWORK_SHARED/models/float and int8
#   --carry DIR     copies what a machine without a network needs (the command, its libraries, an OpenCL loader, this
#                   script, the zoo) into DIR; there, run DIR/tests/peers/gpu/gpu_day.sh
#
# Needs Python 3 and the GPU's driver. NVIDIA's OpenCL is found in containers, too, which have the driver's library
# without the file that names it. Where the driver has CUDA and no OpenCL (Jetson), pocl_cuda.sh builds PoCL with CUDA
# first, which takes longer than the measurements; its folder is build/pocl_cuda. OCL_ICD_VENDORS names other drivers.
# Exit code: 0 measured; 1 something failed or a wrong answer, see the pages; 2 wrong usage; 3 no GPU.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
case " $* " in *" -h "* | *" --help "*) sed -n '2,23s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

# carry DIR
carry() {
  tool="$root/build/release/topwork"
  [ -x "$tool" ] || { echo "gpu_day.sh: $tool is missing; build it: cmake --build --preset release" >&2; exit 2; }
  mkdir -p "$1/build/release" "$1/lib" "$1/models/zoo" "$1/tests/peers/gpu"
  cp "$tool" "$1/build/release/"
  ldd "$tool" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|libpthread|librt)\.so' | xargs -r cp -L -t "$1/lib"
  loader=$(ldconfig -p | awk '/libOpenCL\.so\.1 / { print $NF; exit }')
  [ -n "$loader" ] || { echo "gpu_day.sh: no OpenCL loader is here; Debian: apt install ocl-icd-libopencl1" >&2; exit 2; }
  cp -L "$loader" "$1/lib/libOpenCL.so.1"
  cp "$root"/models/zoo/*.tflite "$1/models/zoo/"
  cp "$root"/tests/peers/gpu/gpu_day.sh "$root"/tests/peers/gpu/pocl_cuda.sh "$root"/tests/peers/gpu/gpu_*.py "$1/tests/peers/gpu/"
  echo "$1 is ready; on the other machine: $(basename "$1")/tests/peers/gpu/gpu_day.sh"
}

if [ "${1:-}" = --carry ]; then
  [ $# -eq 2 ] || { echo "gpu_day.sh: --carry needs a folder and nothing else" >&2; exit 2; }
  carry "$2"
  exit 0
fi

if [ -d "$root/lib" ]; then  # carried
  LD_LIBRARY_PATH="$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export LD_LIBRARY_PATH
fi
# A loader reads the names of drivers from files; where NVIDIA's is missing, one is made.
if [ -z "${OCL_ICD_VENDORS:-}" ] && ! ls /etc/OpenCL/vendors/nvidia*.icd >/dev/null 2>&1; then
  for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu \
    /usr/lib64 /usr/lib/wsl/lib; do
    [ -e "$folder/libnvidia-opencl.so.1" ] || continue
    OCL_ICD_VENDORS=$(mktemp -d)
    export OCL_ICD_VENDORS
    echo "$folder/libnvidia-opencl.so.1" >"$OCL_ICD_VENDORS/nvidia.icd"
    echo "NVIDIA's OpenCL: $folder/libnvidia-opencl.so.1"
    break
  done
  if [ -z "${OCL_ICD_VENDORS:-}" ] && ldconfig -p | grep -q 'libcuda\.so\.1'; then
    echo "NVIDIA's driver has no OpenCL; building PoCL with CUDA"
    if "$root/tests/peers/gpu/pocl_cuda.sh" "$root/build/pocl_cuda"; then
      export OCL_ICD_VENDORS="$root/build/pocl_cuda/etc/OpenCL/vendors" POCL_DEVICES=CUDA
    fi
  fi
fi
exec python3 -B "$root/tests/peers/gpu/gpu_day.py" "$@"
