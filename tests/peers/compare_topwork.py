"""Topwork for compare_engine.py: the C API through ctypes. Needs the standard library only."""
import array
import ctypes

DTYPES = {0: "float32", 2: "int32", 3: "uint8", 4: "int64", 6: "bool", 7: "int16", 9: "int8"}
SIZES = {"float32": 4, "int32": 4, "uint8": 1, "int64": 8, "bool": 1, "int16": 2, "int8": 1}
CODES = {"float32": "f", "int32": "i", "uint8": "B", "int64": "q", "bool": "B", "int16": "h",
         "int8": "b"}


class TensorInfo(ctypes.Structure):
    """The beginning of tw_tensor_info."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("dtype", ctypes.c_int), ("rank", ctypes.c_int32), ("dims", ctypes.c_int32 * 8),
                ("open_dims", ctypes.c_int32 * 8), ("bytes", ctypes.c_size_t),
                ("data", ctypes.c_void_p)]


class SessionOptions(ctypes.Structure):
    """The beginning of tw_session_options."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("n_threads", ctypes.c_int32),
                ("device", ctypes.c_char_p)]


class SessionInfo(ctypes.Structure):
    """The beginning of tw_session_info."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("n_inputs", ctypes.c_size_t),
                ("n_outputs", ctypes.c_size_t)]


def empty(kind):
    value = kind()
    value.struct_size = ctypes.sizeof(kind)
    return value


class Topwork:
    def __init__(self, library):
        self.api = ctypes.CDLL(library)
        self.api.tw_version.restype = self.api.tw_last_error.restype = ctypes.c_char_p
        self.api.tw_session_run.argtypes = [ctypes.c_void_p]
        self.api.tw_session_write_input.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        self.version = self.api.tw_version().decode()
        self.model, self.session = ctypes.c_void_p(), ctypes.c_void_p()

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.api.tw_last_error().decode())

    def tensor(self, get, index):
        info = empty(TensorInfo)
        self.check(get(self.session, ctypes.c_size_t(index), ctypes.byref(info)))
        return info

    def open(self, path, threads, batch):
        self.check(self.api.tw_model_open_file(path.encode(), ctypes.byref(self.model)))
        options = empty(SessionOptions)
        options.n_threads, options.device = threads, b"cpu"
        self.check(self.api.tw_session_create(self.model, ctypes.byref(options),
                                              ctypes.byref(self.session)))
        self.info = empty(SessionInfo)
        self.check(self.api.tw_session_get_info(self.session, ctypes.byref(self.info)))
        if batch > 1:
            self.resize(batch)

    def resize(self, batch):
        for i in range(self.info.n_inputs):
            info = self.tensor(self.api.tw_session_get_input, i)
            if info.rank == 0 or info.dims[0] != 1:
                raise RuntimeError(f"input {i} does not begin with a batch of 1")
            info.dims[0] = batch
            self.check(self.api.tw_session_resize_input(self.session, ctypes.c_size_t(i), info.dims,
                                                        ctypes.c_size_t(info.rank)))
        self.check(self.api.tw_session_prepare(self.session))

    def fill(self, values):
        for i in range(self.info.n_inputs):
            info = self.tensor(self.api.tw_session_get_input, i)
            dtype = DTYPES[info.dtype]
            data = values(dtype, info.bytes // SIZES[dtype], SIZES[dtype])
            first = ctypes.byref(ctypes.c_char.from_buffer(data)) if len(data) else None
            self.check(self.api.tw_session_write_input(self.session, i, first, len(data)))

    def run(self):
        if self.api.tw_session_run(self.session) != 0:
            self.check(1)

    def outputs(self):
        info = self.tensor(self.api.tw_session_get_output, 0)
        values = array.array(CODES[DTYPES[info.dtype]])
        values.frombytes(ctypes.string_at(info.data, info.bytes))
        return values
