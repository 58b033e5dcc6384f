#!/bin/sh
# build_with_cmake.sh CMAKE SOURCE OUTPUT FOLDER [CMake arguments...]: builds libtopwork.a in FOLDER.
set -eu
cmake=$1 source=$2 output=$3 folder=$4
shift 4
"$cmake" -S "$source" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DTOPWORK_TESTS=OFF -DTOPWORK_TOOLS=OFF \
  -DTOPWORK_INSTALL=OFF -DTOPWORK_WERROR=OFF "$@" >"$folder.log" || { cat "$folder.log" >&2; exit 1; }
"$cmake" --build "$folder" --parallel --target topwork_static >>"$folder.log" || { tail -n 40 "$folder.log" >&2; exit 1; }
cmp -s "$folder/libtopwork.a" "$output" || cp "$folder/libtopwork.a" "$output"
