"""What the tests of the command line share: running it, and small files made without packages."""
import math
import os
import pathlib
import struct
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
ZOO = ROOT / "models" / "zoo"
EFFICIENTNET = ZOO / "efficientnet_lite0_fp16.tflite"
DIGITS_CNN = ZOO / "digits_cnn_f32.tflite"
DIGITS_8X8 = ZOO / "data" / "digits_8x8"


def run(tool, *arguments, **options):
    """The finished process, with text output and no colours."""
    environment = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8")
    environment.setdefault("TOPWORK_AUTO_DEVICE", "off")  # the same on machines with a GPU
    environment.update(options.pop("env", {}))
    return subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True,
                          encoding="utf-8", env=environment, timeout=240, **options)


def npy(path, shape, values, descr="<f4", fortran=False, version=1):
    """Writes values (bytes, or numbers in the type of descr) as a .npy file."""
    code = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B", "|i1": "b", "<f2": "e",
            "<u2": "H", "<i2": "h", "|b1": "?"}
    if not isinstance(values, bytes):
        values = struct.pack("<%d%s" % (len(values), code[descr]), *values)
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, fortran, "".join("%d, " % n for n in shape))
    start = 10 if version == 1 else 12
    text += " " * (-(start + len(text) + 1) % 64) + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    data = b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + values
    pathlib.Path(path).write_bytes(data)
    return path


def read_npy(path):
    """(descr, shape, bytes) of a .npy file of version 1."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + size].decode(), {})  # a dictionary of literals
    return header["descr"], header["shape"], data[10 + size:]


def png(path, width, height, pixel):
    """Writes an RGB image; pixel(x, y) gives three numbers."""
    def chunk(name, body):
        return (struct.pack(">I", len(body)) + name + body +
                struct.pack(">I", zlib.crc32(name + body)))
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y))
                    for y in range(height))
    pathlib.Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return path


def tone(frequency, seconds, rate=16000, level=0.25):
    """Samples of a sine."""
    return [level * math.sin(2 * math.pi * frequency * i / rate) for i in range(round(seconds * rate))]


def wav(path, samples, rate=16000, bits=16, channels=1, promise=0):
    """Writes samples in [-1, 1] (of all channels in turn) as 16-bit integers, or as floats (bits 32); the header
    promises so many bytes more than there are."""
    if bits == 32:
        data = struct.pack("<%df" % len(samples), *samples)
    else:
        data = struct.pack("<%dh" % len(samples), *(max(-32768, min(32767, round(s * 32768))) for s in samples))
    size = channels * bits // 8
    form = struct.pack("<HHIIHH", 3 if bits == 32 else 1, channels, rate, rate * size, size, bits)
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"RIFF" + struct.pack("<I", 36 + len(data) + promise) + b"WAVEfmt " + struct.pack("<I", 16) + form +
                     b"data" + struct.pack("<I", len(data) + promise) + data)
    return path


class Checks:
    """Collects failures, so that one run shows them all."""

    def __init__(self):
        self.n = 0
        self.failures = []

    def expect(self, good, text):
        self.n += 1
        if not good:
            self.failures.append(text)
        return good

    def finish(self):
        for text in self.failures:
            print("FAIL: " + text)
        print("%d checks, %d failures" % (self.n, len(self.failures)))
        return 1 if self.failures else 0
