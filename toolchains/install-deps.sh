#!/bin/sh
# Installs what Topwork needs on Debian. Without root it prints the one line to run and exits with 1.
#
# Usage: toolchains/install-deps.sh [build] [test] [long] [zig] [python] [torch] [ray]
#   build   compilers and libraries that build the library and the command line (always included),
#           and uPlot, the plots of training reports, from npm into build/third_party/uplot
#   test    what tests/run.sh needs besides: lints, second compiler, cross compiler, emulators, browser,
#           OpenCL on the CPU (PoCL), its simulator oclgrind and CLBlast, an SSH server, checks of Debian packages,
#           Meson, Doxygen, for Android JDK, Maven and aapt2, and compilers for GPUs: clang 19 with libclc, and NVIDIA's
#           assembler from PyPI into build/third_party/cuda
#   long    what tests/run.sh --long needs besides: cross compilers for 32-bit ARM, RISC-V and POWER, and zig
#   zig     the compiler of the presets jetson-zig, armv7-zig and *-musl, from PyPI into build/third_party/zig, and
#           Python's headers for wheels
#   python  build/.venv with tests/requirements.txt: packages that tests compare Topwork with
#   torch   build/.venv-torch with PyTorch and its converter, of the same Python: 7 GB on x86-64, as that PyTorch brings CUDA
#   ray     build/.venv-ray with Ray and Flower's simulation on it, of the same Python: 0.6 GB
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

packages="cmake ninja-build g++ ccache git ca-certificates libeigen3-dev flatbuffers-compiler \
libflatbuffers-dev libcli11-dev nlohmann-json3-dev libstb-dev zlib1g-dev opencl-c-headers \
libsndfile1-dev libsoxr-dev"
# uPlot is kept once fetched; these are its files as published under this version.
uplot_version=1.6.32
uplot="$root/build/third_party/uplot"
uplot_js=19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f
uplot_css=df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04
uplot_is_good() {
  printf '%s  %s\n' "$uplot_js" "$1/uPlot.iife.min.js" "$uplot_css" "$1/uPlot.min.css" |
    sha256sum --check --status 2>/dev/null
}
uplot_is_good "$uplot" || command -v npm >/dev/null || packages="$packages npm"
python=no test=no torch=no ray=no zig=no
for part in "$@"; do
  case "$part" in
    build) ;;
    test) test=yes; packages="$packages catch2 clang libclang-rt-dev clang-format pkg-config qemu-user-static \
g++-aarch64-linux-gnu python3 python3-venv util-linux chromium \
ocl-icd-libopencl1 pocl-opencl-icd oclgrind libclblast1 openssh-client openssh-server \
openssl dpkg-dev lintian abigail-tools mmdebstrap meson doxygen openjdk-17-jdk-headless maven aapt clang-19 libclc-19" ;;
    zig) zig=yes; packages="$packages python3 python3-venv python3-dev" ;;
    long) zig=yes; packages="$packages qemu-user-static mmdebstrap g++-arm-linux-gnueabihf \
g++-riscv64-linux-gnu g++-powerpc64le-linux-gnu g++-aarch64-linux-gnu clang-19 lld-19 python3 python3-venv python3-dev" ;;
    python) python=yes; packages="$packages python3 python3-venv" ;;
    torch) torch=yes; packages="$packages python3 python3-venv" ;;
    ray) ray=yes; packages="$packages python3 python3-venv" ;;
    -h | --help) sed -n '2,19s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "install-deps.sh: unknown part '$part' (build, test, long, zig, python, torch, ray)" >&2; exit 2 ;;
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
  case "$missing " in
    # A test starts a server of its own on loopback; the machine gets none.
    *" openssh-server "*) systemctl disable -q --now ssh.service ssh.socket 2>/dev/null || true ;;
  esac
fi

if ! uplot_is_good "$uplot"; then
  echo "Fetching uPlot $uplot_version into build/third_party/uplot"
  fetched=$(mktemp -d)
  trap 'rm -rf "$fetched"' EXIT
  if npm pack --silent --prefer-offline --pack-destination "$fetched" "uplot@$uplot_version" \
    >/dev/null; then
    tar -xzf "$fetched/uplot-$uplot_version.tgz" -C "$fetched"
    if ! uplot_is_good "$fetched/package/dist"; then
      echo "The fetched uPlot $uplot_version is not the published one; its checksums differ." >&2
      exit 1
    fi
    mkdir -p "$uplot"
    cp "$fetched/package/dist/uPlot.iife.min.js" "$fetched/package/dist/uPlot.min.css" \
      "$fetched/package/LICENSE" "$uplot"
  else
    echo "npm could not fetch uPlot (see above); training reports will have no plots." >&2
    [ "$test" = no ] || exit 1  # the tests look at the plots
  fi
fi

zig_version=0.17.1
zig_folder="$root/build/third_party/zig"
if [ "$zig" = yes ] && ! [ -e "$zig_folder/ziglang-$zig_version.dist-info" ]; then
  echo "Fetching zig $zig_version into build/third_party/zig"
  rm -rf "$zig_folder"
  # A Python without pip (Debian's) gets it from an environment of its own.
  python3 -m venv "$zig_folder.venv"
  "$zig_folder.venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
    --target "$zig_folder" "ziglang==$zig_version"
  rm -rf "$zig_folder.venv"
fi

cuda_version=13.5.37
cuda="$root/build/third_party/cuda"
if [ "$test" = yes ] && [ "$(uname -m)" = x86_64 ] && [ "$(cat "$cuda/version" 2>/dev/null)" != $cuda_version ]; then
  echo "Fetching NVIDIA's assembler $cuda_version into build/third_party/cuda"
  rm -rf "$cuda" "$cuda.venv"
  mkdir -p "$cuda"
  python3 -m venv "$cuda.venv"
  if "$cuda.venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
    "nvidia-cuda-nvcc==$cuda_version" "nvidia-cuda-nvdisasm==$cuda_version"; then
    # Two programs of what is hundreds of megabytes.
    find "$cuda.venv" -type f \( -name ptxas -o -name nvdisasm \) -exec cp {} "$cuda" \;
    echo $cuda_version >"$cuda/version"
  else
    echo "pip could not fetch it (see above); tests that need it will be skipped." >&2
  fi
  rm -rf "$cuda.venv"
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

# An environment of its own under build/: folder, what it holds, packages.
install_venv() {
  venv="$root/build/$1"
  [ "$(cat "$venv/installed.txt" 2>/dev/null)" != "$3" ] || return 0
  echo "Installing $2 into build/$1"
  python3 -m venv "$venv"
  # shellcheck disable=SC2086
  "$venv/bin/python" -m pip install -q --disable-pip-version-check $3
  echo "$3" >"$venv/installed.txt"
}
if [ "$torch" = yes ]; then
  install_venv .venv-torch PyTorch "litert-torch==0.10.0 torch==2.14.1 torchvision==0.29.2 pillow==13.0.0"
fi
if [ "$ray" = yes ]; then
  install_venv .venv-ray Ray "ray[data]==2.55.1 flwr[simulation]==1.42.0 numpy==2.4.6 pytest==9.2.0"
fi
