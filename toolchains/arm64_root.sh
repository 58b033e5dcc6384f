#!/bin/sh
# Debian for aarch64 in a folder, under qemu: for tests that need libraries of that processor, an OpenCL driver above all.
#
# Usage: toolchains/arm64_root.sh make FOLDER PACKAGE...   unpacks the packages and what they need into FOLDER/root
#        toolchains/arm64_root.sh opencl [FOLDER]          the same with ocl-icd, PoCL and CLBlast (build/arm64-opencl)
#        toolchains/arm64_root.sh run ROOT COMMAND...      runs a command there (root only; exit 77 where that cannot be)
# apt works with a state of its own: nothing is installed on this machine. No package's scripts run.
set -eu
root_of_tree=$(cd "$(dirname "$0")/.." && pwd)

make_root() {
  folder=$1
  shift
  [ "$(cat "$folder/made" 2>/dev/null)" != "$*" ] || return 0
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "apt-get or dpkg-deb is missing"
  echo "Unpacking Debian's packages for aarch64 into $folder" >&2
  rm -rf "$folder"
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/apt/state"
  folder=$(cd "$folder" && pwd)
  : >"$folder/apt/state/status"
  apt="apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
-o Dir::State=$folder/apt/state -o Dir::State::status=$folder/apt/state/status \
-o Dir::State::lists=$folder/apt/lists -o Dir::Cache=$folder/apt/cache"
  {
    $apt update
    $apt install -y --no-install-recommends --download-only "$@"
  } >"$folder/apt.log" 2>&1 || { tail -n 20 "$folder/apt.log" >&2; exit 1; }
  for name in bin lib sbin; do
    mkdir -p "$folder/root/usr/$name"
    ln -s "usr/$name" "$folder/root/$name"
  done
  mkdir -p "$folder/root/proc" "$folder/root/sys" "$folder/root/dev" "$folder/root/tmp"
  for package in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$folder/root" --keep-directory-symlink -xf -
  done
  rm -rf "$folder/apt"
  echo "$*" >"$folder/made"
}

skip() {
  echo "SKIP: no Debian for aarch64 in a folder: $1" >&2
  exit 77
}

# The kernel is to start programs for aarch64 by qemu.
start_binfmt() {
  misc=/proc/sys/fs/binfmt_misc
  rule=/usr/lib/binfmt.d/qemu-aarch64.conf
  [ "$(uname -m)" != aarch64 ] && [ ! -e "$misc/qemu-aarch64" ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "chroot needs root"
  [ -e "$misc/register" ] || mount -t binfmt_misc binfmt_misc "$misc" 2>/dev/null || skip "the kernel has no binfmt_misc"
  [ -e "$rule" ] || skip "$rule is missing (Debian: apt install qemu-user-static)"
  cat "$rule" >"$misc/register" || skip "the kernel does not take $rule"
}

usage() {
  sed -n '2,7s/^# \{0,1\}//p' "$0"
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
    make_root "$@"
    ;;
  opencl)
    make_root "${2:-$root_of_tree/build/arm64-opencl}" dash coreutils sed ocl-icd-libopencl1 pocl-opencl-icd libclblast1
    ;;
  run)
    [ $# -ge 3 ] || wrong
    root=$2
    [ -d "$root" ] || { echo "$root is no folder; '$0 make' or '$0 opencl' makes one" >&2; exit 1; }
    shift 2
    [ "$(id -u)" -eq 0 ] || skip "chroot needs root"
    start_binfmt
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
