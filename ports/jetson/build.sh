#!/bin/sh
# Makes Debian packages in build/debian-ARCH: libtopwork0, libtopwork-dev, topwork-tools, and the debugging
# data of the first and the last (-dbgsym).
#
# Usage: ports/jetson/build.sh [ARCH...]     amd64, arm64; without: this machine's
# Another processor than this machine's is compiled for by Debian's cross compiler (toolchains/README.md).
# On a Jetson itself it builds natively. TOPWORK_JOBS: how many compilers run at once.
set -eu
cd "$(dirname "$0")/../.."
for tool in cmake ninja dpkg-deb objcopy; do
  command -v "$tool" >/dev/null || { echo "build.sh: $tool is missing: run toolchains/install-deps.sh" >&2; exit 1; }
done

# dbgsym PACKAGE BINARY: writes PACKAGE-dbgsym beside the package, with the binary's debugging data where
# debuggers look for it, by the binary's build identifier. (What CPack makes itself, lintian refuses.)
dbgsym() {
  name=$(dpkg-deb --field "$1" Package)
  folder=$(mktemp -d)
  id=$(readelf -n "$2" | sed -n 's/^ *Build ID: //p')
  debug="usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)"
  mkdir -p "$folder/DEBIAN" "$folder/$debug" "$folder/usr/share/doc"
  chmod 755 "$folder"
  objcopy="${triple}-objcopy"
  command -v "$objcopy" >/dev/null || objcopy=objcopy
  "$objcopy" --only-keep-debug --compress-debug-sections "$2" "$folder/$debug/$(echo "$id" | cut -c3-).debug"
  chmod 644 "$folder/$debug"/*.debug
  ln -s "$name" "$folder/usr/share/doc/$name-dbgsym"
  cat >"$folder/DEBIAN/control" <<END
Package: $name-dbgsym
Source: topwork
Version: $(dpkg-deb --field "$1" Version)
Architecture: $(dpkg-deb --field "$1" Architecture)
Maintainer: $(dpkg-deb --field "$1" Maintainer)
Depends: $name (= $(dpkg-deb --field "$1" Version))
Section: debug
Priority: optional
Auto-Built-Package: debug-symbols
Build-Ids: $id
Installed-Size: $(du -k -s "$folder/usr" | cut -f1)
Description: debug symbols for $name
END
  (cd "$folder" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
  dpkg-deb --root-owner-group --build "$folder" "$(echo "$1" | sed "s/\($name\)_/\1-dbgsym_/")" >/dev/null
  rm -rf "$folder"
}

here=$(dpkg --print-architecture)
[ $# -gt 0 ] || set -- "$here"
mkdir -p build
for architecture in "$@"; do
  case "$architecture" in
    amd64) triple=x86_64-linux-gnu ;;
    arm64) triple=aarch64-linux-gnu ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' ports/jetson/build.sh; exit 0 ;;
    *) echo "build.sh: unknown processor '$architecture' (amd64, arm64)" >&2; exit 2 ;;
  esac
  build="build/debian-$architecture"
  toolchain=""
  if [ "$architecture" != "$here" ]; then
    toolchain="-DCMAKE_TOOLCHAIN_FILE=$PWD/toolchains/$triple.cmake"
    [ -f "toolchains/$triple.cmake" ] || { echo "build.sh: no toolchain for $architecture here" >&2; exit 2; }
  fi
  echo "== $architecture in $build"
  # -g1: function names and lines for the -dbgsym packages; dpkg's hardening but for branch protection.
  # shellcheck disable=SC2086
  cmake -S . -B "$build" -G Ninja $toolchain -DCMAKE_BUILD_TYPE=Release -DTOPWORK_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR="lib/$triple" \
    -DCMAKE_C_FLAGS="-g1" -DCMAKE_CXX_FLAGS="-g1" \
    -DCMAKE_SHARED_LINKER_FLAGS="-Wl,-z,relro,-z,now" -DCMAKE_EXE_LINKER_FLAGS="-Wl,-z,relro,-z,now" \
    >"$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
  cmake --build "$build" -j "${TOPWORK_JOBS:-$(nproc)}" >>"$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
  rm -rf "$build"/*.deb "$build/_CPack_Packages"
  (cd "$build" && cpack -G DEB) >>"$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
  dbgsym "$build"/libtopwork0_*.deb "$build/libtopwork.so"
  dbgsym "$build"/topwork-tools_*.deb "$build/topwork"
  ls -l "$build"/*.deb
done
