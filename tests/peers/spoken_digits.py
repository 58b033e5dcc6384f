"""Spoken digits (Free Spoken Digit Dataset) as features of a network that knows twelve other commands.

The recordings, DIGIT_SPEAKER_NUMBER.wav of 8 kHz, are at github.com/Jakobovski/free-spoken-digit-dataset.
"""

import wave

import numpy as np

import peers

RATE, FRAME, HOP, FFT = 8000, 240, 160, 256  # 30 ms every 20 ms: of one second 49 frames
N_MEL, N_CEPSTRA, LOW_HZ, HIGH_HZ = 40, 10, 20.0, 4000.0


def read(path):
    """One second of samples in [-1, 1), shorter recordings end in silence."""
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2), path
        samples = np.frombuffer(file.readframes(RATE), "<i2") / 32768
    return np.pad(samples, (0, RATE - len(samples)))


def mel_weights():
    """[bins, N_MEL]: triangles that overlap by half, evenly spaced in mel; no weight for the bin of 0 Hz."""
    def to_mel(hz):
        return 1127 * np.log1p(hz / 700)
    edges = np.linspace(to_mel(LOW_HZ), to_mel(HIGH_HZ), N_MEL + 2)
    bins = to_mel(np.linspace(0, RATE / 2, FFT // 2 + 1))[:, None]
    rise = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rise, fall))
    weights[0] = 0
    return weights


def cepstra(samples):
    """[49, N_CEPSTRA] as the network was trained on; its sounds had twice the samples a second."""
    starts = np.arange(0, RATE - FRAME + 1, HOP)[:, None]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
    spectra = 2 * np.abs(np.fft.rfft(samples[starts + np.arange(FRAME)] * window, FFT))
    logs = np.log(spectra @ mel_weights() + 1e-6)
    angles = np.pi / N_MEL * (np.arange(N_MEL)[:, None] + 0.5) * np.arange(N_CEPSTRA)
    return (logs @ np.cos(angles) * np.sqrt(2 / N_MEL)).astype(np.float32)


def load(recordings):
    """(features, digits) of all recordings, or None where the network is not in $TOPWORK_SHARED."""
    model = peers.shared_models() / "dynamic" / "mlperf_kws_dscnn_dynamic.tflite"
    if not model.is_file():
        return None
    paths = sorted(recordings.glob("[0-9]_*_*.wav"))
    network = peers.LiteRt(model)
    pooled = next(d["index"] for d in network.interpreter.get_tensor_details() if d["name"].endswith("/AvgPool"))
    return (network.run((cepstra(read(path)) for path in paths), pooled),
            np.array([int(path.name[0]) for path in paths]))
