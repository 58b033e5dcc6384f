"""topwork.sounds on files that the tests write: tones, whose frequency, length and level are known."""
import sys

import numpy as np
import pytest

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
pytest.importorskip("soxr", reason="soxr is not installed")
import topwork  # noqa: E402
from topwork import sounds  # noqa: E402

RATE = 16000


def tone(frequency, seconds=1.0, rate=RATE, level=0.25):
    return (level * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


@pytest.mark.parametrize("kind, subtype, error", [("wav", "PCM_16", 3.1e-5), ("wav", "FLOAT", 0), ("wav", "PCM_U8", 7.9e-3),
                                                  ("flac", "PCM_16", 3.1e-5), ("flac", "PCM_24", 2e-7)])
def test_reads_what_was_written(tmp_path, kind, subtype, error):
    path = tmp_path / f"a.{kind}"
    soundfile.write(path, tone(440), RATE, subtype=subtype)
    got = sounds.read(path, RATE)
    assert got.dtype == np.float32 and got.shape == (RATE,)
    np.testing.assert_allclose(got, tone(440), atol=error)


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_converts_rates(tmp_path, rate):
    """The tone keeps frequency, length and level; only the ends, which the filter reaches over, may differ."""
    soundfile.write(tmp_path / "a.wav", tone(1000, rate=rate), rate, subtype="FLOAT")
    got = sounds.read(tmp_path / "a.wav", RATE)
    assert abs(len(got) - RATE) <= 1
    np.testing.assert_allclose(got[800:-800], tone(1000)[800:len(got) - 800], atol=2e-3)


def test_a_higher_rate_leaves_no_alias(tmp_path):
    soundfile.write(tmp_path / "a.wav", tone(11000, rate=48000), 48000, subtype="FLOAT")
    assert np.abs(sounds.read(tmp_path / "a.wav", RATE)[800:-800]).max() < 1e-3


def test_averages_channels_and_reads_parts(tmp_path):
    both = np.stack([tone(440), np.zeros(RATE, np.float32)], axis=1)
    soundfile.write(tmp_path / "a.wav", both, RATE, subtype="FLOAT")
    np.testing.assert_allclose(sounds.read(tmp_path / "a.wav", RATE, start=0.25, end=0.5), tone(440)[4000:8000] / 2, atol=1e-7)
    for start, end in [(0.5, 0.5), (-1, 0.5), (0, 1.5), (2, None)]:
        with pytest.raises(ValueError, match="a.wav: lasts 1.000 s"):
            sounds.read(tmp_path / "a.wav", RATE, start=start, end=end)


@pytest.mark.parametrize("n_channels", [1, 2])
def test_plain_wave_needs_no_other_package(tmp_path, monkeypatch, n_channels):
    """The numbers are soundfile's; a file with an end missing, and one of another kind, is left to it."""
    both = np.stack([tone(440), np.linspace(-1, 1, RATE, dtype=np.float32)], axis=1)[:, -n_channels:]
    soundfile.write(tmp_path / "a.wav", both, RATE, subtype="PCM_16")
    wanted = soundfile.read(tmp_path / "a.wav", dtype="float32", always_2d=True)[0].mean(axis=1, dtype=np.float32)
    (tmp_path / "cut.wav").write_bytes((tmp_path / "a.wav").read_bytes()[:-1001])
    kept = soundfile.read(tmp_path / "cut.wav", dtype="float32", always_2d=True)[0].mean(axis=1, dtype=np.float32)
    np.testing.assert_array_equal(sounds.read(tmp_path / "cut.wav", RATE), kept)
    soundfile.write(tmp_path / "b.wav", both, RATE, subtype="PCM_24")
    monkeypatch.setitem(sys.modules, "soundfile", None)
    np.testing.assert_array_equal(sounds.read(tmp_path / "a.wav", RATE), wanted)
    np.testing.assert_array_equal(sounds.read(tmp_path / "a.wav", RATE, start=0.25, end=0.5), wanted[4000:8000])
    for name in ("cut.wav", "b.wav"):
        with pytest.raises(ModuleNotFoundError, match="soundfile"):
            sounds.read(tmp_path / name, RATE)


def test_refuses_what_is_no_sound(tmp_path):
    (tmp_path / "a.wav").write_bytes(b"RIFF and no more")
    with pytest.raises(ValueError, match="a.wav: no sound that can be read"):
        sounds.read(tmp_path / "a.wav", RATE)
    soundfile.write(tmp_path / "nothing.wav", np.zeros(0, np.float32), RATE)
    with pytest.raises(ValueError, match="nothing.wav: holds no samples"):
        sounds.read(tmp_path / "nothing.wav", RATE)
    with pytest.raises(ValueError, match="missing.wav: there is no such file"):
        sounds.read(tmp_path / "missing.wav", RATE)
    bad = tone(440)
    bad[7] = np.nan
    soundfile.write(tmp_path / "b.wav", bad, RATE, subtype="FLOAT")
    with pytest.raises(ValueError, match="b.wav: holds samples that are no numbers"):
        sounds.read(tmp_path / "b.wav", RATE)


@pytest.mark.parametrize("n, size, hop, starts", [(10, 4, 2, [0, 2, 4, 6]), (11, 4, 2, [0, 2, 4, 6, 8]), (3, 4, 4, [0]),
                                                  (8, 4, None, [0, 4]), (9, 4, 4, [0, 4, 8]), (4, 4, 1, [0]), (10, 2, 5, [0, 5]),
                                                  (11, 2, 5, [0, 5, 10])])
def test_windows(n, size, hop, starts):
    samples = np.arange(1, n + 1, dtype=np.float32)
    got = sounds.windows(samples, size, hop)
    padded = np.concatenate([samples, np.zeros(2 * size, np.float32)])
    np.testing.assert_array_equal(got, [padded[start:start + size] for start in starts])


def test_windows_refuse_impossible_sizes():
    for size, hop in [(0, 1), (4, 0), (4, -2)]:
        with pytest.raises(ValueError, match="impossible"):
            sounds.windows(tone(440), size, hop)


def test_leveled():
    for level in (-30.0, -20.0):
        got = sounds.leveled(tone(440), level)
        assert abs(20 * np.log10(np.sqrt(np.mean(got ** 2))) - level) < 0.01
    assert np.abs(sounds.leveled(tone(440), 0.0)).max() == pytest.approx(1)  # louder than a sine can be
    np.testing.assert_array_equal(sounds.leveled(np.zeros(8, np.float32), -20.0), np.zeros(8))


def write_two_classes(path):
    for name, low in (("high", 2000), ("low", 300)):
        (path / name).mkdir()
        for i in range(12):
            soundfile.write(path / name / f"{i:02}.wav", tone(low * (1 + i / 40)), RATE)


def test_folders_of_classes(tmp_path):
    write_two_classes(tmp_path)
    (tmp_path / "low" / "notes.txt").write_text("no sound")
    data = sounds.folder(tmp_path, RATE, 8000, 4000)
    assert data.X.shape == (24 * 3, 8000)
    assert list(data.y) == ["high"] * 36 + ["low"] * 36
    assert len(data.files) == 24 and list(data.groups) == sorted(list(range(24)) * 3)
    quiet = sounds.folder(tmp_path, RATE, 8000, level=-40.0)
    np.testing.assert_allclose(np.sqrt((quiet.X ** 2).mean(axis=1)), 0.01, rtol=0.01)
    with pytest.raises(ValueError, match="no labels.csv, and no folders of sounds"):
        sounds.folder(tmp_path / "low", RATE, 8000)


def test_folders_transformed_file_by_file(tmp_path):
    write_two_classes(tmp_path)
    sizes = []

    def peaks(cut):
        sizes.append(cut.shape)
        return np.abs(cut).max(axis=1, keepdims=True)

    data = sounds.folder(tmp_path, RATE, 8000, transform=peaks)
    assert sizes == [(2, 8000)] * 24
    np.testing.assert_array_equal(data.X, np.abs(sounds.folder(tmp_path, RATE, 8000).X).max(axis=1, keepdims=True))


def test_labels_of_a_long_file(tmp_path):
    soundfile.write(tmp_path / "long.flac", np.concatenate([tone(300), tone(2000, 2.0)]), RATE)
    (tmp_path / "labels.csv").write_text("file,start,end,class\nlong.flac,0,1,low\nlong.flac,1.5,,high\n")
    data = sounds.folder(tmp_path, RATE, 8000)
    assert list(data.y) == ["low"] * 2 + ["high"] * 3 and set(data.groups) == {0}
    np.testing.assert_allclose(data.X[2], tone(2000, 1)[8000:], atol=1e-4)


@pytest.mark.parametrize("text, said", [("file,class\na.wav,low\n", "the first line must be"),
                                        ("file,start,end,class\na.wav,0,1\n", "line 2: needs four values"),
                                        ("file,start,end,class\na.wav,x,1,low\n", "line 2: start and end are seconds"),
                                        ("file,start,end,class\na.wav,0,9,low\n", "line 2: .*lasts 1.000 s"),
                                        ("file,start,end,class\n../b.wav,0,1,low\n", "line 2: .*does not exist")])
def test_labels_that_are_wrong(tmp_path, text, said):
    soundfile.write(tmp_path / "a.wav", tone(440), RATE)
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(ValueError, match=said):
        sounds.folder(tmp_path, RATE, 8000)


def test_events():
    scores = np.array([[.9, .1], [.6, .1], [.1, .1], [.8, .7], [.1, .1], [.1, .1], [.95, .2]])
    assert sounds.events(scores, ["a", "b"], hop=1.0, length=1.0) == [
        sounds.Event(0, 2, "a", .9), sounds.Event(3, 4, "a", .8), sounds.Event(3, 4, "b", .7), sounds.Event(6, 7, "a", .95)]
    assert sounds.events(scores, ["a", "b"], hop=1.0, length=1.0, gap=1.0)[0] == sounds.Event(0, 4, "a", .9)
    assert len(sounds.events(scores, ["a", "b"], hop=1.0, length=1.0, threshold=.85, gap=9)) == 1
    assert sounds.events(np.zeros((0, 2)), ["a", "b"], hop=1.0, length=1.0) == []
    with pytest.raises(ValueError, match="do not fit 1 labels"):
        sounds.events(scores, ["a"], hop=1.0, length=1.0)


def bands(windows_of_1600):
    """[n, 20] float32: the logarithm of the energy in each of 20 bands of frequencies."""
    energy = np.abs(np.fft.rfft(windows_of_1600, axis=1)[:, :800]) ** 2
    return np.log(1e-3 + energy.reshape(len(energy), 20, 40).sum(axis=2)).astype(np.float32)


def test_a_trainer_learns_sounds(tmp_path):
    """Windows of a file are split together, and the head names new tones in a time line."""
    write_two_classes(tmp_path)
    data = sounds.folder(tmp_path, RATE, 1600)
    trainer = topwork.Trainer().fit(bands(data.X), data.y, groups=data.groups)
    cut = sounds.windows(np.concatenate([tone(320), tone(2150)]), 1600)
    found = sounds.events(trainer.predict_proba(bands(cut)), list(trainer.classes_), hop=0.1, length=0.1)
    assert [(event.label, round(event.start, 3), round(event.end, 3)) for event in found] == [("low", 0, 1), ("high", 1, 2)]
