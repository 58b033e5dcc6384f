"""Custom operators that LiteRT brings along: AudioSpectrogram, Mfcc, rotations, verification."""

from flatbuffers import flexbuffers

from cases import Table
from sheets import Sheet

N = 20
# samples, channels, window_size, stride
SOUNDS = ((40, 1, 16, 8), (50, 2, 20, 10), (33, 1, 7, 3), (64, 3, 64, 1), (10, 1, 16, 4),
          (100, 1, 25, 40), (8, 2, 2, 1), (300, 1, 129, 50), (17, 1, 17, 1), (90, 2, 33, 29))
# channels, windows, frequencies, rate, lower, upper, bands, coefficients
SPECTRA = ((1, 3, 33, 16000, 20, 4000, 20, 13), (2, 2, 17, 8000, 0, 3999, 8, 8),
           (1, 4, 65, 44100, 100, 12000, 40, 5), (1, 1, 9, 16000, 300, 7999, 3, 1),
           (3, 1, 129, 16000, 20, 7600, 13, 10), (1, 2, 33, 16000, 20, 12000, 10, 4),
           (1, 2, 2, 100, 0, 49, 2, 2), (1, 2, 40, 22050, 1000, 1100, 6, 6))


def _sheet(op, name, options_of, refused):
    """`refused`: inputs and options that LiteRT refuses, too."""
    table = Table(name)
    sheet = Sheet(f"CUSTOM:{op}", "float32")
    for index in range(N):
        args, options = options_of(sheet, index)
        sheet.add(args, "float32", custom_options=bytes(flexbuffers.Dumps(options)))
    sheet.name = op.lower()
    case = sheet.case()
    case.rtol = 1e-5
    table.append(case)
    for index, (shapes, options) in enumerate(refused):
        sheet = Sheet(f"CUSTOM:{op}", f"refuse_{index}")
        args = [sheet.x(shapes, "float32", lo=0, hi=1)]
        if op == "Mfcc":
            args.append(sheet.ints(options.pop("rate")))
        sheet.add(args, "float32", custom_options=bytes(flexbuffers.Dumps(options)))
        case = sheet.case()
        case.refused = True
        table.append(case)
    return table


def _spectrogram(sheet, index):
    samples, channels, window, stride = SOUNDS[index % len(SOUNDS)]
    options = dict(window_size=window, stride=stride, magnitude_squared=index % 3 > 0)
    return [sheet.x((samples, channels), "float32")], options


def _mfcc(sheet, index):
    channels, windows, n, rate, lower, upper, bands, count = SPECTRA[index % len(SPECTRA)]
    options = dict(lower_frequency_limit=lower, upper_frequency_limit=upper,
                   filterbank_channel_count=bands, dct_coefficient_count=count)
    value = (rate, [rate])[index // 2 % 2]
    rate = sheet.ints(rate) if index % 2 else sheet.x(None, "int32", values=value)
    return [sheet.x((channels, windows, n), "float32", lo=0, hi=(3, 1e-13)[index % 7 == 6]),
            rate], options


def _rotations():
    table = Table("HADAMARD_ROTATION")
    op = "CUSTOM:aeq.hadamard_rotation"
    sheet = Sheet(op, "float32")
    for index in range(N):
        size = (1, 2, 4, 8, 16, 64, 128)[index % 7]
        shape = ((3, 2 * size), (2, 1, size), (1, 3, 3 * size), (1, size))[index % 4]
        x = sheet.x(shape, "float32")
        options = dict(hadamard_size=size, random_binary_vector=[1, -1])
        result = sheet.add([x], "float32", custom_options=bytes(flexbuffers.Dumps(options)))
        sheet.graph.tensors[result].shape = shape  # LiteRT takes it from the file
        sheet.graph.tensors[result].computed = False
    sheet.name = "hadamard_rotation"
    table.append(sheet.case(optimized=True))  # the reference kernels lack it
    return table


def _verification():
    table = Table("NUMERIC_VERIFY")
    for dtype in ("int8", "uint8", "int16", "float16"):
        sheet = Sheet("CUSTOM:NumericVerify", dtype)
        for index in range(N):
            shape = ((3, 5), (17,), (1, 2, 3, 2), (1,), (2, 0, 3))[index % 5]
            half = dtype == "float16"
            scale, zero = (None, 0) if half else (1 / 16, 0 if dtype == "int16" else 3)
            values = sheet.rng.randint(0, 100, shape)
            real = values * 1.0 if half else (values - zero) / 16
            fails = index % 2 == 0
            options = dict(tolerance=0.5 if fails else 0.01, log_if_failed=fails)
            apart = 0 if half and fails else sheet.rng.uniform(-0.4, 0.4, shape) / 16
            sheet.add([sheet.x(None, dtype, scale, zero, values=values),
                       sheet.x(None, "float32", values=real + apart)], "float32",
                      custom_options=bytes(flexbuffers.Dumps(options)))
        sheet.name = dtype
        table.append(sheet.case())
    sheet = Sheet("CUSTOM:NumericVerify", "refuse")
    options = dict(tolerance=0.5, log_if_failed=True)
    for reference in (2.2, 2.4):  # within half a step of 2, and not
        sheet.add([sheet.x(None, "int8", 0.5, 0, values=[3, 4]),
                   sheet.x(None, "float32", values=[1.5, reference])], "float32",
                  custom_options=bytes(flexbuffers.Dumps(options)))
    case = sheet.case()
    case.refused = True
    case.name = "refuse_too_far"
    table.append(case)
    return table


def tables():
    sound = [((9, 1), dict(window_size=1, stride=1, magnitude_squared=True)),
             ((9, 1), dict(window_size=4, stride=0, magnitude_squared=True)),
             ((9, 1, 1), dict(window_size=4, stride=1, magnitude_squared=True)),
             ((9, 1), dict(stride=1))]
    usual = dict(lower_frequency_limit=20, upper_frequency_limit=4000, filterbank_channel_count=8,
                 dct_coefficient_count=8, rate=16000)
    shape = (1, 2, 33)
    changes = (dict(dct_coefficient_count=9), dict(filterbank_channel_count=0), dict(rate=0),
               dict(lower_frequency_limit=4000), dict(lower_frequency_limit=-1))
    spectra = [(shape, {**usual, **change}) for change in changes] + [((1, 2, 1), dict(usual))]
    return [_sheet("AudioSpectrogram", "AUDIO_SPECTROGRAM", _spectrogram, sound),
            _sheet("Mfcc", "MFCC", _mfcc, spectra), _rotations(), _verification()]
