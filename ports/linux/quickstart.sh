#!/bin/sh
# From a fresh clone to a re-trained network in one command: installs what is missing, builds the
# command line, classifies a photograph, teaches the network to tell faces from other pictures,
# evaluates before and after, has it refuse a picture of something else and forget one that it was
# taught, and writes the new .tflite with an HTML report.
#
# Usage: ports/linux/quickstart.sh [OUTPUT_FOLDER [TOPWORK]]
#   OUTPUT_FOLDER   default: build/quickstart-output of the clone
#   TOPWORK         a command line that was built before; nothing is installed or built
# Works from any folder; a second run builds nothing. Without root it prints the packages to install.
set -eu
refuse() {
  echo "quickstart.sh: $1. ports/linux/quickstart.sh --help says what it takes; nothing was installed or built." >&2
  exit 2
}
for argument in "$@"; do
  case "$argument" in
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) refuse "unknown argument '$argument'" ;;
  esac
done
[ $# -le 2 ] || refuse "it takes an output folder and a command line, and '$3' is one more"
output=${1:-}
case "$output" in "" | /*) ;; *) output=$PWD/$output ;; esac
[ ! -e "$output" ] || [ -d "$output" ] || refuse "'$output' is a file, not a folder for the output"
tool=${2:-}
case "$tool" in "" | /*) ;; *) tool=$PWD/$tool ;; esac
[ -z "$tool" ] || { [ -f "$tool" ] && [ -x "$tool" ]; } || refuse "'$tool' is no program"
cd "$(dirname "$0")/../.."
output=${output:-$PWD/build/quickstart-output}
build=build/quickstart
tool=${tool:-$PWD/$build/topwork}
zoo=models/zoo
model=$zoo/efficientnet_lite0_fp16.tflite
faces=$zoo/data/faces

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$(printf '\033[1m') dim=$(printf '\033[2m') green=$(printf '\033[1;32m') cyan=$(printf '\033[1;36m')
  off=$(printf '\033[0m')
else
  bold='' dim='' green='' cyan='' off=''
fi
step() { printf '\n%s%s%s %s%s%s\n' "$cyan" "$1" "$off" "$bold" "$2" "$off"; }
# A path as a shell reads it back.
quoted() {
  case "$1" in
    *[!A-Za-z0-9_./+-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
  esac
}
show() { printf '%s$ topwork %s%s\n' "$dim" "$*" "$off"; }  # the command, as one would type it
percent() { sed -n 's/^  "top1": \([0-9.e-]*\),*$/\1/p' "$1" | awk '{printf "%.1f %%", 100 * $1}'; }

step 1/7 "Install what is missing and build"
mkdir -p build "$output"
if [ -n "${2:-}" ]; then
  echo "$tool was built before"
else
  toolchains/install-deps.sh build
  if ! cmake --preset release -B "$build" -DTOPWORK_TESTS=OFF >build/quickstart.log 2>&1; then
    tail -n 20 build/quickstart.log >&2
    echo "quickstart.sh: CMake failed; the whole output is in build/quickstart.log" >&2
    exit 1
  fi
  if [ -t 1 ]; then
    cmake --build "$build" --target topwork_cli
  else
    echo "Building in $build takes minutes; build/quickstart.log shows how far it is"
    cmake --build "$build" --target topwork_cli >>build/quickstart.log 2>&1 || {
      tail -n 40 build/quickstart.log >&2
      echo "quickstart.sh: the build failed; the whole output is in build/quickstart.log" >&2
      exit 1
    }
  fi
  echo "$tool is ready"
fi

step 2/7 "Classify a photograph: $zoo/data/cat.jpg"
show run efficientnet_lite0_fp16.tflite --input cat.jpg --labels imagenet_labels.txt
"$tool" run "$model" --input "$zoo/data/cat.jpg" --labels "$zoo/imagenet_labels.txt"

step 3/7 "Does this network know a face? 60 small pictures, half of them faces"
show evaluate efficientnet_lite0_fp16.tflite --data faces/test --labels imagenet_labels.txt
"$tool" evaluate "$model" --data "$faces/test" --labels "$zoo/imagenet_labels.txt" --json \
  >"$output/before.json"
before=$(percent "$output/before.json")
names=$(sed -n '/"said_instead"/,/\]/s/.*"name": "\(.*\)".*/\1/p' "$output/before.json" | head -n 3 |
  awk '{printf "%s%s", (NR > 1 ? ", " : ""), $0}')
echo "top-1 $before: none of its 1000 classes is a face, so it says: $names"

step 4/7 "Re-train its last layer on 140 other pictures"
rm -f "$output/faces.memory" "$output/faces.memory.previous"
show train efficientnet_lite0_fp16.tflite --data faces/train --output faces.tflite \
  --report report.html --memory faces.memory
"$tool" train "$model" --data "$faces/train" --output "$output/faces.tflite" \
  --report "$output/report.html" --memory "$output/faces.memory"

step 5/7 "Try the new model on the 60 pictures, which it has not seen"
show evaluate faces.tflite --data faces/test
"$tool" evaluate "$output/faces.tflite" --data "$faces/test" --json >"$output/after.json"
after=$(percent "$output/after.json")
echo
one=$(ls "$faces"/test/face/*.png | head -n 1)
show run faces.tflite --input "${one#"$faces"/}"
"$tool" run "$output/faces.tflite" --input "$one"

step 6/7 "Ask the new model about the photograph, which is nothing that it was taught"
show run faces.tflite --input cat.jpg
"$tool" run "$output/faces.tflite" --input "$zoo/data/cat.jpg"

step 7/7 "Forget one picture: the new head is that of the pictures that remain, and nothing is trained"
show learn efficientnet_lite0_fp16.tflite --memory faces.memory --remove face/0000.png --output faces.tflite
"$tool" learn "$model" --memory "$output/faces.memory" --remove face/0000.png \
  --output "$output/faces.tflite"
"$tool" evaluate "$output/faces.tflite" --data "$faces/test" --json >"$output/forgotten.json"
forgotten=$(percent "$output/forgotten.json")

printf '\n%s accuracy on 60 new pictures: %s before, %s after, %s with one picture forgotten %s\n' "$green" "$before" \
  "$after" "$forgotten" "$off"
printf '  new model   %s\n' "$output/faces.tflite"
printf '  report      %s  %s(open it in a browser)%s\n' "$output/report.html" "$dim" "$off"
printf '  yours       %s train %s --data PHOTOS --output mine.tflite\n' "$(quoted "$tool")" "$(quoted "$PWD/$model")"
printf '              PHOTOS holds one folder of images for each class\n'
printf '  next        %s info %s --plan\n' "$(quoted "$tool")" "$(quoted "$output/faces.tflite")"
printf '              ports/cli/WALK.md: ten commands that teach, refuse, correct and forget\n'
