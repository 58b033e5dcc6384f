"""Sounds as data: train, learn, evaluate, quantize, audit, suggest and verify on tones that are written here, whose
classes a model can tell by how it is made; and files that are wrong.

Usage: sounds_test.py TOPWORK SOUND_MODELS HAS_SOUNDS
"""
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

from cli_support import Checks, run, tone, wav

USAGE, UNSUPPORTED, DATA, IO = 2, 4, 5, 6
CLASSES = {"low": 300, "middle": 1000, "high": 3000}


def write_classes(folder, n_files, rate=16000, seconds=0.2, shift=0.0, level=0.25):
    for name, frequency in CLASSES.items():
        for i in range(n_files):
            wav(folder / name / ("%02d.wav" % i), tone(frequency * (1 + shift * i), seconds, rate, level), rate)
    return folder


def document(checks, tool, *arguments):
    """The JSON document of a run that must work."""
    result = run(tool, *arguments, "--json")
    if not checks.expect(result.returncode == 0, "%s: %d %s" % (
            " ".join(map(str, arguments)), result.returncode, result.stderr)):
        return {}
    return json.loads(result.stdout)


def check_evaluate(checks, tool, here, models):
    data = write_classes(here / "data", 3)
    for name in ("tones", "tones_row", "tones_column", "tones_int16", "tones_int8"):
        got = document(checks, tool, "evaluate", models / (name + ".tflite"), "--data", data)
        checks.expect(got.get("top1") == 1.0 and got.get("n_examples") == 3 * 3 * 4, "evaluate %s: %s" % (name, got))
        checks.expect("windows of 800 samples (0.05 s) at 16000 Hz (the model's metadata)" in got.get("note", ""),
                      "evaluate %s says how sounds are cut: %s" % (name, got.get("note")))
    got = document(checks, tool, "evaluate", models / "tones.tflite", "--data", data, "--hop", "0.025")
    checks.expect(got["n_examples"] == 3 * 3 * 7 and "one every 0.025 s" in got["note"], "--hop: %s" % got)
    bare = document(checks, tool, "evaluate", models / "tones_bare.tflite", "--data", data)
    checks.expect("16000 Hz (assumed" in bare["note"] and "--rate HZ" in bare["note"], "assumed rate: %s" % bare["note"])
    # 44.1 kHz and two channels, one of them silent: the same tones once they are converted.
    other = here / "other"
    for name, frequency in CLASSES.items():
        both = [value for sample in tone(frequency, 0.5, 44100) for value in (sample, 0.0)]
        wav(other / name / "a.wav", both, 44100, bits=32, channels=2)
    got = document(checks, tool, "evaluate", models / "tones.tflite", "--data", other)
    checks.expect(got["top1"] == 1.0 and got["n_examples"] == 30, "44.1 kHz: %s" % got)
    # A tone of 3000 Hz is 1000 Hz to a model that takes it at 48 kHz: the rate of the file counts, not its samples.
    fast = document(checks, tool, "evaluate", models / "tones_48k.tflite", "--data", data)
    checks.expect("48000 Hz (the model's metadata)" in fast["note"] and fast["n_examples"] == 3 * 3 * 12,
                  "rate of the metadata: %s" % fast)
    slow = document(checks, tool, "evaluate", models / "tones_48k.tflite", "--data", data, "--rate", "16000")
    checks.expect("(--rate)" in slow["note"] and slow["top1"] == 1.0, "--rate wins: %s" % slow)
    quiet = write_classes(here / "quiet", 2, level=0.004)
    loss = document(checks, tool, "evaluate", models / "tones.tflite", "--data", quiet)["loss"]
    leveled = document(checks, tool, "evaluate", models / "tones.tflite", "--data", quiet, "--level", "-20")
    checks.expect(loss > 0.5 and leveled["loss"] < 0.1, "--level: %s, %s" % (loss, leveled["loss"]))


def check_train(checks, tool, here, models):
    data = write_classes(here / "train", 12, shift=0.001)
    new = here / "new.tflite"
    got = document(checks, tool, "train", models / "tones.tflite", "--data", data, "--output", new, "--report",
                   here / "train.html", "--cache", here / "features")
    checks.expect(new.exists() and "windows of 800 samples" in json.dumps(got), "train: %s" % got)
    judged = document(checks, tool, "evaluate", new, "--data", here / "data")
    checks.expect(judged["top1"] == 1.0 and "the model's metadata" in judged["note"], "the trained model: %s" % judged)
    again = document(checks, tool, "train", models / "tones.tflite", "--data", data, "--output", here / "again.tflite",
                     "--cache", here / "features")
    checks.expect(again and (here / "again.tflite").read_bytes() == new.read_bytes(), "the cache gives the same model")
    # What the new model refuses is no event, however high its score.
    noise = random.Random(1)
    others = here / "others"
    for i in range(12):
        wav(others / ("%d.wav" % i), [s + noise.uniform(-0.2, 0.2) for s in tone(2000, 0.2)])
    document(checks, tool, "train", models / "tones.tflite", "--data", data, "--negatives", others, "--output",
             here / "refusing.tflite")
    for sound, n_events in ((others / "0.wav", 0), (data / "low" / "03.wav", 1)):
        heard = document(checks, tool, "run", here / "refusing.tflite", "--input", sound)
        checks.expect(len(heard.get("events", [])) == n_events, "run of a model that refuses, %s: %s" % (sound, heard))
    memory = here / "m.memory"
    learnt = document(checks, tool, "learn", models / "tones.tflite", "--memory", memory, "--add", data, "--output",
                      here / "learnt.tflite")
    checks.expect(learnt["n_examples"] == 3 * 12 * 4, "learn: %s" % learnt)
    left = document(checks, tool, "learn", models / "tones.tflite", "--memory", memory, "--remove-group", "low/03.wav")
    checks.expect(left["n_removed"] == 4, "a file is a group: %s" % left)
    small = document(checks, tool, "quantize", models / "tones.tflite", "--to", "int8", "--data", data, "--output",
                     here / "small.tflite", "--io", "int8")
    checks.expect(small.get("n_calibration_examples", 0) > 0, "quantize: %s" % small)
    judged = document(checks, tool, "evaluate", here / "small.tflite", "--data", data)
    checks.expect(judged["top1"] > 0.97, "the int8 model: %s" % judged)
    verify = ("verify", models / "tones_row.tflite", "--device", "cpu", "--precision", "float16", "--data", data)
    plan = run(tool, "info", models / "tones_row.tflite", "--device", "cpu", "--precision", "float16", "--plan").stdout
    if "all is float32" in plan:  # a processor without products of 16-bit numbers
        result = run(tool, *verify)
        checks.expect(result.returncode == 4 and "no operator is computed in 16 bits" in result.stderr,
                      "verify without 16-bit products: %d %s" % (result.returncode, result.stderr))
        return
    verified = document(checks, tool, *verify)
    checks.expect(verified.get("agrees") is True, "verify: %s" % verified)


def check_labels(checks, tool, here, models):
    """One long file, whose parts labels.csv names; one of them wrongly. Each part is a group: a file alone is none."""
    folder = here / "long"
    names = list(CLASSES) * 8
    sound = [s for i, name in enumerate(names) for s in tone(CLASSES[name] * (1 + i / 2e4), 0.2)]
    wav(folder / "night.wav", sound)
    with open(folder / "labels.csv", "w") as file:
        file.write("file,start,end,class,group\n")
        for i, name in enumerate(names):
            file.write("night.wav,%g,%g,%s,part %d\n" % (i / 5, (i + 1) / 5, "low" if i == 13 else name, i))
    audited = document(checks, tool, "audit", models / "tones.tflite", "--data", folder, "--fix", here / "fixed.csv")
    checks.expect(audited["n_suspects"] == 4 and all(row["file"].startswith("night.wav[") for row in audited["worst"]),
                  "audit: %s" % audited)
    with open(here / "fixed.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    checks.expect(list(rows[0]) == ["file", "start", "end", "class", "group"] and rows[52]["group"] == "part 13" and len(rows) == 96, "--fix: %s" % rows[:2])
    fixed = [row["class"] for row in rows]
    checks.expect(fixed == [name for name in names for _ in range(4)], "--fix corrects the windows: %s" % fixed)
    (folder / "labels.csv").write_bytes((here / "fixed.csv").read_bytes())
    judged = document(checks, tool, "evaluate", models / "tones.tflite", "--data", folder)
    checks.expect(judged["top1"] == 1.0 and judged["n_examples"] == 96, "what --fix wrote is read: %s" % judged)
    chosen = document(checks, tool, "suggest", models / "tones.tflite", "--data", folder, "--count", "3")
    checks.expect(len(chosen["suggestions"]) == 3 and chosen["n_examples"] == 96, "suggest: %s" % chosen)
    told = run(tool, "suggest", models / "tones.tflite", "--data", folder, "--count", "3").stderr
    checks.expect("note: windows of 800 samples" in told, "suggest says how sounds are cut: %s" % told)
    # Two sounds at once: the same window may come up twice.
    with open(folder / "labels.csv", "a") as file:
        file.write("night.wav,0,0.2,high,part 0\n")
    trained = document(checks, tool, "train", models / "tones.tflite", "--data", folder, "--output", here / "two.tflite")
    checks.expect((here / "two.tflite").exists(), "a window with two labels: %s" % trained)


def check_refusals(checks, tool, here, models):
    tones = models / "tones.tflite"

    def refused(code, *texts, model=tones, data=None, command="evaluate", more=()):
        result = run(tool, command, model, "--data", data, *more)
        checks.expect(result.returncode == code and all(text in result.stderr for text in texts) and
                      result.stderr.count("\n") == 1, "refusal of %s: %d %s" % (data, result.returncode, result.stderr))

    def folder(name, make):
        write_classes(here / name, 1)
        make(here / name / "low" / "bad.wav")
        return here / name

    nan = tone(300, 0.2)
    nan[777] = math.nan
    refused(DATA, "low/bad.wav: is cut off: it ends after 0.200 s",
            data=folder("cut", lambda path: wav(path, tone(300, 0.2), promise=5000)))
    refused(DATA, "low/bad.wav: holds a sample that is no number, at 0.049 s (sample 777)",
            data=folder("nan", lambda path: wav(path, nan, bits=32)))
    refused(DATA, "low/bad.wav: is empty", data=folder("empty", lambda path: path.write_bytes(b"")))
    refused(DATA, "low/bad.wav: holds no samples", data=folder("none", lambda path: wav(path, [])))
    refused(DATA, "low/bad.wav: not a readable WAV or FLAC file",
            data=folder("text", lambda path: path.write_text("this is a text\n" * 50)))
    refused(DATA, "low/bad.wav: not a readable WAV or FLAC file",
            data=folder("header", lambda path: path.write_bytes(b"RIFF and no more")))
    # A recorder that was switched off leaves the largest length there is.
    streamed = folder("streamed", lambda path: wav(path, tone(300, 0.2), promise=0xffffff00 - 6400))
    checks.expect(run(tool, "evaluate", tones, "--data", streamed).returncode == 0, "a length that is not known")
    data = here / "data"
    refused(USAGE, "--hop 1e-05 s: is not a sample or more at 16000 Hz", data=data, more=["--hop", "1e-5"])
    refused(USAGE, "--rate", data=data, more=["--rate", "0"])
    refused(USAGE, "--hop", "0.0", data=data, more=["--hop", "0.0"])
    refused(USAGE, "--level", data=data, more=["--level", "3"])
    checks.expect(run(tool, "evaluate", tones, "--data", data, "--hop", "100").returncode == 0, "a hop beyond the file")
    refused(DATA, "holds sounds, but the model's input 'features' (float32 [1, 49, 10, 1]) looks like a spectrogram", ".npy",
            model=models / "spectrogram.tflite", data=data)
    refused(DATA, "(float32 [1, 40]) is too short for samples", model=models / "features.tflite", data=data)
    refused(DATA, "has an open length", "--input-shape", model=models / "open.tflite", data=data)
    labels = here / "labels"
    wav(labels / "a.wav", tone(300, 1.0))
    for text, said in (("a.wav,0,1", "labels.csv:2: has 3 fields"), ("a.wav,x,1,low", "labels.csv:2: column 2 ('start'): 'x'"),
                       ("a.wav,0,9,low", "labels.csv:2: "), ("b.wav,0,1,low", "labels.csv:2: column 1 ('file'): there is no")):
        (labels / "labels.csv").write_text("file,start,end,class\n%s\n" % text)
        refused(DATA, said, data=labels)
    result = run(tool, "train", tones, "--data", data, "--output", data / "low" / "00.wav")
    checks.expect(result.returncode == USAGE and "a file of the data set" in result.stderr,
                  "a sound is not written over: %s" % result.stderr)


def main():
    tool, sound_models, has_sounds = sys.argv[1:4]
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="topwork_sounds_") as folder:
        here = pathlib.Path(folder)
        models = here / "models"
        models.mkdir()
        subprocess.run([sound_models, models], check=True)
        if has_sounds != "1":
            data = write_classes(here / "data", 1)
            result = run(tool, "evaluate", models / "tones.tflite", "--data", data)
            checks.expect(result.returncode == UNSUPPORTED and "built without sounds" in result.stderr and
                          "libsndfile1-dev" in result.stderr, "a build without sounds: %s" % result.stderr)
            return checks.finish()
        check_evaluate(checks, tool, here, models)
        check_train(checks, tool, here, models)
        check_labels(checks, tool, here, models)
        check_refusals(checks, tool, here, models)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
