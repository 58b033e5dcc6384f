#!/bin/sh
# Mesa's compilers for Adreno and Mali without a GPU: Debian 13 in a folder, and there Mesa from Debian's source with
# its stand-ins for the kernel's drivers. Root only; takes minutes once, gigabytes while it runs.
#
# Usage: tests/gpu_compilers/mesa.sh [FOLDER]   (build/gpu_compilers/mesa)
# Exit 77: it cannot be made here; it says why.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../build/gpu_compilers/mesa}
root=$folder/root

skip() {
  echo "SKIP: no Mesa for GPUs: $1" >&2
  exit 77
}

# What compilers.py talks to.
make_program() {
  cmp -s "$here/build_program.c" "$root/srv/build_program.c" && return 0
  cp "$here/build_program.c" "$root/srv"
  "$here/../../toolchains/arm64_root.sh" run "$root" gcc -O1 -o /opt/mesa/build_program /srv/build_program.c -lOpenCL
}

recipe=$(sed -n '/^rm -rf/,$p' "$here/mesa.sh" | sha256sum)
if [ "$(cat "$folder/made" 2>/dev/null)" = "$recipe" ]; then
  make_program
  exit 0
fi
[ "$(id -u)" -eq 0 ] || skip "only root can make a Debian in a folder"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is missing (Debian: apt install mmdebstrap)"
# shellcheck disable=SC2016
site=$(apt-get indextargets --format '$(SITE) $(RELEASE)' | sed -n 's|\(/debian\)/* bookworm$|\1|p' | head -n 1)
[ -n "$site" ] || skip "this machine gets its packages from no mirror of Debian"
rm -rf "$folder"
mkdir -p "$folder"
mmdebstrap --variant=apt trixie "$root" "$site" >"$folder/log" 2>&1 || skip "mmdebstrap failed (see $folder/log)"
echo "deb-src $site trixie main" >"$root/etc/apt/sources.list.d/source.list"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cat >"$root/srv/make.sh" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends ocl-icd-opencl-dev dpkg-dev
apt-get build-dep -q -y --no-install-recommends mesa
mkdir -p /mesa /opt/mesa
cd /mesa
apt-get source -q mesa
cd mesa-*/
meson setup /mesa/build --buildtype=release -Dtools=drm-shim -Dgallium-drivers=freedreno,panfrost \
  -Dgallium-rusticl=true -Dllvm=enabled -Dvulkan-drivers= -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled \
  -Dopengl=false -Dgles1=disabled -Dgles2=disabled -Dvideo-codecs= -Dvalgrind=disabled -Dlibunwind=disabled \
  -Dgallium-va=disabled -Dgallium-vdpau=disabled
nice -n 15 ninja -C /mesa/build
cp /mesa/build/src/gallium/targets/rusticl/libRusticlOpenCL.so.1 /mesa/build/src/*/drm-shim/lib*_noop_drm_shim.so \
  /opt/mesa
echo /opt/mesa/libRusticlOpenCL.so.1 >/opt/mesa/rusticl.icd
basename "$PWD" >/opt/mesa/version
cd / && rm -rf /mesa && apt-get clean
END
"$here/../../toolchains/arm64_root.sh" run "$root" sh /srv/make.sh >>"$folder/log" 2>&1 ||
  { tail -n 20 "$folder/log" >&2; skip "the build failed (see $folder/log)"; }
make_program
echo "$recipe" >"$folder/made"
