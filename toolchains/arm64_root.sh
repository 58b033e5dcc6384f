#!/bin/sh
# Debian 12 in a folder, by mmdebstrap: for ARM under qemu, for tests that need libraries of that processor, an OpenCL
# driver or Python; for this machine's processor, to install packages there and nowhere else. Root only.
#
# Usage: toolchains/arm64_root.sh make FOLDER PACKAGE...   unpacks aarch64's packages and what they need into FOLDER/root;
#                                                          no package's scripts run
#        toolchains/arm64_root.sh armhf FOLDER PACKAGE...  the same of 32-bit ARM
#        toolchains/arm64_root.sh opencl [FOLDER]          the same with ocl-icd, PoCL and CLBlast (build/arm64-opencl)
#        toolchains/arm64_root.sh here FOLDER PACKAGE...   installs this processor's, with dpkg, into FOLDER/root
#        toolchains/arm64_root.sh run ROOT COMMAND...      runs a command there (exit 77 where that cannot be)
# Exit 77: no root can be made here; it says why.
set -eu
root_of_tree=$(cd "$(dirname "$0")/.." && pwd)

# make_root VARIANT ARCHITECTURE FOLDER PACKAGE...
make_root() {
  variant=$1 architecture=$2 folder=$3
  shift 3
  [ "$(cat "$folder/made" 2>/dev/null)" != "$variant $architecture $*" ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "only root can make, and use, one"
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is missing (Debian: apt install mmdebstrap)"
  # shellcheck disable=SC2016
  site=$(apt-get indextargets --format '$(SITE) $(RELEASE)' | sed -n 's|\(/debian\)/* bookworm$|\1|p' | head -n 1)
  [ -n "$site" ] || skip "this machine gets its packages from no mirror of Debian 12"
  echo "Making Debian 12 for $architecture in $folder" >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  mmdebstrap --variant="$variant" --architectures="$architecture" --include="$(echo "$*" | tr ' ' ,)" \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr bookworm "$folder/root" "$site" >"$folder/log" 2>&1 ||
    { tail -n 20 "$folder/log" >&2; skip "mmdebstrap failed, probably without a network"; }
  for name in proc sys dev tmp; do mkdir -p "$folder/root/$name"; done
  echo "$variant $architecture $*" >"$folder/made"
}

skip() {
  echo "SKIP: no Debian in a folder: $1" >&2
  exit 77
}

# The kernel is to start programs for the processor (aarch64, arm) by qemu.
start_binfmt() {
  misc=/proc/sys/fs/binfmt_misc
  rule=/usr/lib/binfmt.d/qemu-$1.conf
  [ "$(uname -m)" != aarch64 ] && [ ! -e "$misc/qemu-$1" ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "chroot needs root"
  [ -e "$misc/register" ] || mount -t binfmt_misc binfmt_misc "$misc" 2>/dev/null || skip "the kernel has no binfmt_misc"
  [ -e "$rule" ] || skip "$rule is missing (Debian: apt install qemu-user-static)"
  cat "$rule" >"$misc/register" || skip "the kernel does not take $rule"
}

usage() {
  sed -n '2,11s/^# \{0,1\}//p' "$0"
}

wrong() {
  usage >&2
  exit 2
}

case "${1:-}" in
  -h | --help)
    usage
    ;;
  make)
    [ $# -ge 3 ] || wrong
    shift
    make_root extract arm64 "$@"
    ;;
  armhf)
    [ $# -ge 3 ] || wrong
    shift
    make_root extract armhf "$@"
    ;;
  here)
    [ $# -ge 3 ] || wrong
    shift
    make_root minbase "$(dpkg --print-architecture)" "$@"
    ;;
  opencl)
    make_root extract arm64 "${2:-$root_of_tree/build/arm64-opencl}" dash coreutils sed ocl-icd-libopencl1 pocl-opencl-icd libclblast1
    ;;
  run)
    [ $# -ge 3 ] || wrong
    root=$2
    [ -d "$root" ] || { echo "$root is no folder; '$0 make' or '$0 opencl' makes one" >&2; exit 1; }
    shift 2
    [ "$(id -u)" -eq 0 ] || skip "chroot needs root"
    start_binfmt aarch64
    start_binfmt arm
    # Mounts of our own: they end with the command.
    # shellcheck disable=SC2016
    exec unshare --mount sh -c 'root=$1; shift
      mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
        exec chroot "$root" "$@"' arm64_root "$root" "$@"
    ;;
  *)
    wrong
    ;;
esac
