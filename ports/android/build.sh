#!/bin/sh
# Builds and tests the Java and Kotlin classes, and packs build/android/topwork-VERSION.aar and the
# Maven repository build/android/repository.
#
# Usage: ports/android/build.sh [HOST_BUILD]
#   HOST_BUILD   a CMake build of this machine with libtopwork.so and libtopwork_jni.so, which the
#                tests run on; without it build/release is built
#   ANDROID_NDK  the NDK: libraries for Android are built and packed. Without it the package has none
# Needs JDK 17, Maven and its central repository. Exit code 77: one of these is missing.
set -eu
case "${1:-}" in
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
cd "$(dirname "$0")/../.."
root=$PWD
out=$root/build/android
[ $# -eq 0 ] || [ -d "$1" ] || { echo "build.sh: $1 is no folder; give a CMake build, such as build/release" >&2; exit 2; }

missing() {
  echo "SKIP ports/android: $1"
  exit 77
}
for tool in javac mvn cmake python3; do
  command -v "$tool" >/dev/null || missing "$tool is not installed (toolchains/install-deps.sh test)"
done
javac -version 2>&1 | grep -qE ' (17|[2-9][0-9])\b' || missing "$(javac -version 2>&1) is older than 17"

part() { sed -n "s/^#define TW_VERSION_$1 *//p" runtime/include/topwork/topwork.h; }
version=$(part MAJOR).$(part MINOR).$(part PATCH)

if [ $# -gt 0 ]; then
  host=$(cd "$1" && pwd)
  [ -f "$host/libtopwork_jni.so" ] || missing "$1 was built without a JDK: it has no libtopwork_jni.so"
else
  host=$root/build/release
  cmake --preset release -DTOPWORK_JNI=ON
  cmake --build --preset release --target topwork topwork_jni
fi

libs=""
if [ -n "${ANDROID_NDK:-}" ]; then
  libs=$out/libs
  rm -rf "$libs"
  for abi in arm64-v8a armeabi-v7a x86_64; do
    cmake --preset "android-$abi"
    cmake --build "build/android-$abi" --target topwork topwork_jni
    mkdir -p "$libs/$abi"
    for name in libtopwork.so libtopwork_jni.so; do
      "$(ls "$ANDROID_NDK"/toolchains/llvm/prebuilt/*/bin/llvm-strip)" --strip-unneeded \
        -o "$libs/$abi/$name" "build/android-$abi/$name"
    done
  done
fi

maven() {
  mvn -B -ntp -Dmaven.repo.local="$root/build/maven" -Drevision="$version" -Dtopwork.native="$host" "$@"
}
mkdir -p "$out/no_drivers"
log=$out/maven.log
# The interface of org.tensorflow.lite is published as an AAR alone, which Maven cannot compile
# against: its classes are put into the cache as a jar of the same name.
tflite=org.tensorflow:tensorflow-lite-api:2.14.0
jar=$root/build/maven/org/tensorflow/tensorflow-lite-api/2.14.0/tensorflow-lite-api-2.14.0
if [ ! -f "$jar.jar" ]; then
  maven -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dtransitive=false \
    "-Dartifact=$tflite:aar" >"$log" 2>&1 || missing "Maven cannot fetch $tflite (build/android/maven.log)"
  python3 -c 'import sys, zipfile; open(sys.argv[2], "wb").write(zipfile.ZipFile(sys.argv[1]).read("classes.jar"))' \
    "$jar.aar" "$jar.jar"
fi
if ! maven -f ports/android/pom.xml package >"$log" 2>&1; then
  ! grep -qE 'Could not (transfer|resolve)|Unknown host' "$log" ||
    missing "Maven cannot fetch what the build needs (build/android/maven.log)"
  grep -E '^\[(ERROR|WARNING)\]|Tests run:' "$log" | head -n 60
  echo "The whole output is in build/android/maven.log"
  exit 1
fi
# -Xcheck:jni prints what native code did wrong, and goes on.
if grep -nE 'in native method|JNI local refs|Handler was modified' "$log"; then
  echo "JNI was used wrongly: see build/android/maven.log"
  exit 1
fi
grep -E 'Tests run:.*[0-9]$' "$log"

if [ -n "$libs" ]; then
  python3 -B ports/android/aar/package.py --version "$version" --jars "$out/maven" \
    --headers runtime/include --out "$out" --libs "$libs" --ndk "$ANDROID_NDK"
else
  python3 -B ports/android/aar/package.py --version "$version" --jars "$out/maven" \
    --headers runtime/include --out "$out"
  echo "ANDROID_NDK is not set: the package has no libraries for Android."
fi
