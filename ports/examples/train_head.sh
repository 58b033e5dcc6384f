#!/bin/sh
# Re-trains a model's last layer on folders of images, judges it on images that it has not seen, and
# names one of them.
# Usage: train_head.sh [TOPWORK [OUTPUT_FOLDER]]     default: topwork, and the current folder
set -eu
topwork=${1:-topwork}
output=${2:-.}
zoo=$(cd "$(dirname "$0")/../../models/zoo" && pwd)
data=$zoo/data/digits # one folder of images a class, 400 to train on and 200 to judge with
mkdir -p "$output"

"$topwork" train "$zoo/digits_cnn_f32.tflite" --data "$data/train" --output "$output/digits.tflite" \
  --optimizer lbfgs --epochs 50 --report "$output/report.html"
"$topwork" evaluate "$output/digits.tflite" --data "$data/test" --json >"$output/after.json"
grep '"top1"' "$output/after.json"
"$topwork" run "$output/digits.tflite" --input "$data/test/digit_7/0413.png" --top 3
