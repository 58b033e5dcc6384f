"""The example wake_word against the same chain in Python, and with the sizes that openWakeWord's models have.

Usage: wake_word_test.py WAKE_WORD SOUND_MODELS
"""
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

# The small chain of tests/ports/cli/sound_models.cc.
HOP, SAMPLES, WIDTH, STRIDE, MELS, FRAMES, NUMBERS, EMBEDDINGS = 128, 160, 64, 32, 4, 12, 6, 3


def pattern(rows, columns, scale):
    return [[scale * math.sin(1 + 3 * r + 0.7 * c) for c in range(columns)] for r in range(rows)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def expected(samples):
    """[(seconds, score)], computed from the whole sound at once: no ring, no window that slides."""
    filters = [[2 / WIDTH * math.sin(2 * math.pi * 200 * (m + 1) * i / 16000) for i in range(WIDTH)] for m in range(MELS)]
    padded = [0] * (SAMPLES - HOP) + samples  # nothing was heard before
    starts = range(0, len(samples) // HOP * HOP, STRIDE)
    frames = [[dot(band, padded[at:at + WIDTH]) ** 2 / 10 + 2 for band in filters] for at in starts]
    dense = pattern(NUMBERS, FRAMES * MELS, 4 / (FRAMES * MELS))
    per_hop = HOP // STRIDE
    embeddings = []
    for end in range(FRAMES, len(frames) + 1, per_hop):
        row = [value for frame in frames[end - FRAMES:end] for value in frame]
        embeddings.append([dot(weights, row) for weights in dense])
    head = pattern(1, EMBEDDINGS * NUMBERS, 2)[0]
    scores = []
    for k in range(EMBEDDINGS, len(embeddings) + 1):
        row = [value for embedding in embeddings[k - EMBEDDINGS:k] for value in embedding]
        n_hops = FRAMES // per_hop + k - 1
        scores.append((n_hops * HOP / 16000, 1 / (1 + math.exp(0.5 - dot(head, row)))))
    return scores


def heard(program, models, ending, samples, *hop):
    data = struct.pack("<%dh" % len(samples), *samples)
    chain = [models / (name + ending + ".tflite") for name in ("mel", "embedding", "head")]
    result = subprocess.run([program, *chain, "-", *hop], input=data, capture_output=True, check=True)
    rows = [line.split() for line in result.stdout.decode().splitlines()]
    assert all((float(row[2]) >= 0.5) == (row[3:] == ["heard"]) for row in rows), rows
    return [(float(row[0]), float(row[2])) for row in rows]


def main():
    program, sound_models = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="topwork_wake_word_") as folder:
        models = pathlib.Path(folder)
        subprocess.run([sound_models, models], check=True)
        samples = [round(9 * math.sin(2 * math.pi * 400 * i / 16000) + 5 * math.sin(i * i / 9000)) for i in range(2000)]
        got, want = heard(program, models, "", samples, str(HOP)), expected(samples)
        assert len(got) == len(want) == 2000 // HOP - 4, (len(got), len(want))
        assert max(score for _, score in want) - min(score for _, score in want) > 0.1, want  # else nothing is tested
        for (at, score), (want_at, want_score) in zip(got, want):
            assert abs(at - want_at) < 1e-3 and abs(score - want_score) < 1e-4, (got, want)
        # 76 frames come with hop 10, 16 embeddings 15 hops later.
        full = heard(program, models, "_16k", samples * 20)
        assert len(full) == 40000 // 1280 - 24 and abs(full[0][0] - 25 * 0.08) < 1e-6, full
        # A chain whose parts do not fit is refused with a sentence.
        wrong = subprocess.run([program, models / "mel.tflite", models / "embedding_16k.tflite", models / "head.tflite", "-",
                                "128"], input=b"", capture_output=True)
        assert wrong.returncode == 1 and b"takes other frames" in wrong.stderr, wrong.stderr
    print("%d scores agree" % len(want))


if __name__ == "__main__":
    main()
