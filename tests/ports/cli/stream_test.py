"""run on sounds: the time line of a file, streams from files and from standard input, state from window to window, and
Ctrl-C.

Usage: stream_test.py TOPWORK SOUND_MODELS HAS_SOUNDS
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import wave

from cli_support import Checks, npy, run, tone, wav

USAGE, DATA, IO, CANCELLED = 2, 5, 6, 9
SILENCE = [0.0] * 16000
# Seconds of what follows what, and the events of windows of 50 ms.
SCENE = SILENCE[:4800] + tone(300, 0.4) + SILENCE[:1600] + tone(300, 0.2) + tone(3000, 0.5) + SILENCE[:4000]
EVENTS = [("low", 0.3, 0.7), ("low", 0.8, 1.0), ("high", 1.0, 1.5)]


def pcm(samples):
    return struct.pack("<%dh" % len(samples), *(round(s * 32767) for s in samples))


def start(tool, *arguments):
    """A stream that reads what is written to its standard input."""
    environment = dict(os.environ, NO_COLOR="1", TOPWORK_AUTO_DEVICE="off")
    return subprocess.Popen([str(tool), *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=environment)


def events_of(document):
    return [(event["label"], round(event["start"], 6), round(event["end"], 6)) for event in document["events"]]


def ended_of(text):
    return [(one["ended"]["label"], round(one["ended"]["start"], 6), round(one["ended"]["end"], 6))
            for one in map(json.loads, text.splitlines()) if "ended" in one]


def check_time_line(checks, tool, here, models):
    scene = wav(here / "scene.wav", SCENE)
    tones = models / "tones.tflite"

    def events(*arguments, threshold="0.9"):
        result = run(tool, "run", tones, "--input", scene, "--threshold", threshold, *arguments, "--json")
        checks.expect(result.returncode == 0, "run %s: %s" % (arguments, result.stderr))
        return json.loads(result.stdout or '{"events": []}')

    whole = events()
    checks.expect(events_of(whole) == EVENTS and whole["n_windows"] == 35, "a time line: %s" % whole)
    checks.expect(all(event["score"] > 0.99 for event in whole["events"]), "scores: %s" % whole)
    checks.expect(whole["rate"] == 16000 and whole["hop_seconds"] == 0.05 and
                  whole["rate_source"] == "the model's metadata", "what was assumed: %s" % whole)
    joined = events_of(events("--gap", "0.1"))
    checks.expect(joined == [("low", 0.3, 1.0), ("high", 1.0, 1.5)], "--gap: %s" % joined)
    checks.expect(events_of(events("--gap", "0.099")) == EVENTS, "a gap that is too short")
    hopped = events("--hop", "0.025")
    checks.expect(hopped["n_windows"] == 69 and [e[0] for e in events_of(hopped)] == ["low", "low", "high"],
                  "--hop: %s" % hopped)
    checks.expect(events_of(events(threshold="1.1")) == [], "a threshold that nothing reaches")
    names = here / "names.txt"
    names.write_text("deep\nmean\nshrill\n")
    named = events_of(events("--labels", names))
    checks.expect([e[0] for e in named] == ["deep", "deep", "shrill"], "--labels: %s" % named)
    text = run(tool, "run", tones, "--input", scene, "--threshold", "0.9")
    lines = [line.split() for line in text.stdout.splitlines()]
    checks.expect(lines[1][:5] == ["0.300", "s", "0.700", "s", "low"] and "3 events from 0.9 on in 35 windows" in text.stdout,
                  "the table: %s" % text.stdout)
    checks.expect("note: windows of 800 samples (0.05 s) at 16000 Hz" in text.stderr, "the note: %s" % text.stderr)
    # The same at another rate and as integers.
    faster = wav(here / "scene44.wav", [s for s in SILENCE[:13230]] + tone(300, 0.4, 44100) + SILENCE[:8820], 44100)
    for model in ("tones", "tones_row", "tones_column", "tones_int16", "tones_int8"):
        result = run(tool, "run", models / (model + ".tflite"), "--input", faster, "--threshold", "0.9", "--json")
        got = events_of(json.loads(result.stdout)) if result.returncode == 0 else result.stderr
        checks.expect(got == [("low", 0.3, 0.7)], "%s: %s" % (model, got))


def check_rows(checks, tool, here, models):
    """A model that gives four rows for a window: each is a quarter of it. Names choose the output."""
    scene, model = here / "scene.wav", models / "tones_rows.tflite"
    names = here / "rows.txt"
    names.write_text("low\nmiddle\nhigh\n")
    arguments = ["run", model, "--input", scene, "--threshold", "0.9", "--labels", names]
    result = run(tool, *arguments, "--json")
    whole = json.loads(result.stdout) if result.returncode == 0 else {"events": []}
    checks.expect(events_of(whole) == EVENTS and whole["n_windows"] == 9 and whole["rows_per_window"] == 4,
                  "rows: %s %s" % (whole, result.stderr))
    text = run(tool, *arguments).stdout
    checks.expect("3 events from 0.9 on in 9 windows of 4 rows" in text, "rows as text: %s" % text)
    result = run(tool, *arguments, "--stream", "--every-window", "--json")
    windows = [json.loads(line)["window"] for line in result.stdout.splitlines() if "window" in line]
    times = [(round(window["start"], 6), round(window["end"], 6)) for window in windows]
    checks.expect(times == [(round(k / 20, 6), round((k + 1) / 20, 6)) for k in range(36)], "a line for each row: %s" % times)
    checks.expect([windows[k]["label"] for k in (6, 13, 16, 29)] == ["low", "low", "low", "high"] and
                  ended_of(result.stdout) == EVENTS, "rows of a stream: %s" % windows)
    apart = run(tool, *arguments, "--hop", "0.3", "--json")
    starts = [event["start"] for event in json.loads(apart.stdout)["events"]]
    checks.expect([round(start, 6) for start in starts] == [0.3, 0.6, 0.9, 1.0, 1.2], "windows with a gap: %s" % apart.stdout)
    result = run(tool, *arguments, "--hop", "0.1")
    checks.expect(result.returncode == USAGE and "gives 4 rows of scores for a window" in result.stderr,
                  "windows that overlap: %s" % result.stderr)
    # Without names of a file the first output with rows is it, which has six columns.
    result = run(tool, "run", model, "--input", scene, "--threshold", "0.2", "--json")
    labels = {event["label"] for event in json.loads(result.stdout)["events"]}
    checks.expect(labels and all(label.startswith("class ") for label in labels), "rows without names: %s" % labels)


def check_file_stream(checks, tool, here, models):
    scene, tones = here / "scene.wav", models / "tones.tflite"
    result = run(tool, "run", tones, "--input", scene, "--threshold", "0.9", "--stream", "--json")
    checks.expect(ended_of(result.stdout) == EVENTS, "--stream of a file: %s %s" % (result.stdout, result.stderr))
    began = [json.loads(line)["began"]["start"] for line in result.stdout.splitlines() if "began" in line]
    checks.expect([round(at, 6) for at in began] == [0.3, 0.8, 1.0], "begins: %s" % began)


def check_recordings(checks, tool, models):
    """Words that people said: the mean squares add up to those of the samples."""
    folder = pathlib.Path(os.environ.get("TOPWORK_SHARED", "/nonexistent")) / "models/data/tflm_samples/micro_speech/testdata"
    files = sorted(folder.glob("*_1000ms.wav"))
    if not files:
        print("no recordings in TOPWORK_SHARED: tones alone are read")
    for file in files:
        with wave.open(str(file)) as sound:
            n = sound.getnframes()
            samples = struct.unpack("<%dh" % n, sound.readframes(n))
        energy = sum((sample / 32768) ** 2 for sample in samples) / 800
        result = run(tool, "run", models / "total.tflite", "--input", file, "--stream", "--every-window", "--json")
        windows = [json.loads(line)["window"] for line in result.stdout.splitlines() if "window" in line]
        checks.expect(len(windows) == -(-n // 800) and abs(windows[-1]["score"] - energy) < 1e-5 + 1e-4 * energy,
                      "%s: %s windows, energy %s" % (file.name, windows[-1:], energy))


def check_state(checks, tool, here, models):
    """The model adds up mean squares: 1/32 for a window of a sine of 1/4."""
    sound = pcm(tone(1000, 0.2) + SILENCE[:800])
    command = [tool, "run", models / "total.tflite", "--stream", "--every-window", "--json", "--input", "-"]
    result = start(*command)
    out, err = result.communicate(sound)
    scores = [json.loads(line)["window"]["score"] for line in out.decode().splitlines() if "window" in line]
    expected = [k / 32 for k in (1, 2, 3, 4, 4)]
    checks.expect(len(scores) == 5 and all(abs(a - b) < 1e-4 for a, b in zip(scores, expected)),
                  "state goes from window to window: %s %s" % (scores, err))
    again = [json.loads(line)["window"]["score"] for line in start(*command).communicate(sound)[0].decode().splitlines()
             if "window" in line]
    checks.expect(again == scores, "each run begins anew: %s" % again)


def check_pipe(checks, tool, here, models):
    tones = models / "tones.tflite"
    arguments = ["run", tones, "--threshold", "0.9", "--stream", "--json", "--input", "-"]
    out, err = start(tool, *arguments).communicate(pcm(SCENE))
    checks.expect(ended_of(out.decode()) == EVENTS and err == b"", "standard input: %s %s" % (out, err))
    # An event is told when it begins, while the pipe stays open; Ctrl-C ends what has begun, with exit code 0.
    process = start(tool, *arguments)
    process.stdin.write(pcm(SILENCE[:800] + tone(300, 0.1)))
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    checks.expect(first["began"]["label"] == "low" and abs(first["began"]["start"] - 0.05) < 1e-9, "at once: %s" % first)
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read().decode()
    code = process.wait()
    process.stdin.close()
    ended = ended_of(rest)
    checks.expect(code == 0 and len(ended) == 1 and ended[0][:2] == ("low", 0.05), "Ctrl-C: %d %s" % (code, rest))
    checks.expect(process.stderr.read() == b"", "Ctrl-C leaves no message")
    text = start(tool, "run", tones, "--threshold", "0.9", "--stream", "--every-window", "--input", "-")
    out, err = text.communicate(pcm(tone(300, 0.1) + SILENCE[:1600]))
    lines = [line.split() for line in out.decode().splitlines()]
    checks.expect(lines[0][:3] == ["0.000", "s", "low"] and ["0.100", "s", "low", "ends,"] in [l[:4] for l in lines] and
                  len(lines) == 4 + 2 and b"4 windows in" in err, "text: %s %s" % (out, err))


def check_refusals(checks, tool, here, models, has_sounds):
    tones = models / "tones.tflite"
    npy(here / "a.npy", (1, 800), [0.0] * 800)
    wav(here / "b.wav", tone(300, 0.2))

    def refused(code, text, *arguments, model=tones, stdin=b""):
        process = start(tool, "run", model, *arguments)
        out, err = process.communicate(stdin)
        checks.expect(process.returncode == code and text in err.decode() and out == b"",
                      "run %s: %d %s" % (arguments, process.returncode, err))

    refused(USAGE, "add --stream", "--input", "-")
    refused(USAGE, "give one --input", "--stream")
    refused(USAGE, "give one --input", "--stream", "--input", here / "a.npy")
    refused(USAGE, "--every-window belongs to --stream", "--every-window", "--input", here / "b.wav")
    refused(USAGE, "--output: is of one run", "--output", here / "out", "--input", here / "b.wav")
    refused(USAGE, "--level needs the whole sound", "--stream", "--level", "-20", "--input", "-")
    refused(DATA, "standard input: holds no samples", "--stream", "--input", "-")
    refused(DATA, "looks like a spectrogram", "--stream", "--input", "-", model=models / "spectrogram.tflite")
    refused(DATA, "has an open length", "--stream", "--input", "-", model=models / "open.tflite")
    refused(DATA, "names.txt: has 3 names, but no output has as many", "--stream", "--input", "-", "--labels",
            here / "names.txt", model=models / "total.tflite")
    if has_sounds:
        refused(IO, "absent.wav: cannot read it", "--input", here / "absent.wav")
        (here / "text.wav").write_text("no sound")
        refused(DATA, "text.wav: not a readable WAV or FLAC file", "--input", here / "text.wav")
    # An open length is fixed by its shape.
    process = start(tool, "run", models / "open.tflite", "--input-shape", "#0=1,800", "--stream", "--input", "-", "--json")
    out, err = process.communicate(pcm(tone(300, 0.1)))
    checks.expect(process.returncode == 0, "--input-shape: %s" % err)


def main():
    tool, sound_models, has_sounds = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="topwork_stream_") as folder:
        here = pathlib.Path(folder)
        models = here / "models"
        models.mkdir()
        subprocess.run([sound_models, models], check=True)
        (here / "names.txt").write_text("a\nb\nc\n")
        if has_sounds:
            check_time_line(checks, tool, here, models)
            check_rows(checks, tool, here, models)
            check_file_stream(checks, tool, here, models)
            check_recordings(checks, tool, models)
        check_state(checks, tool, here, models)
        check_pipe(checks, tool, here, models)
        check_refusals(checks, tool, here, models, has_sounds)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
