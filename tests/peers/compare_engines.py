"""The peers for compare_engine.py: LiteRT, MNN, ONNX Runtime, ncnn. Each imports its package when it
is made, so that one Python without the others' packages is enough."""
import importlib.metadata

import numpy as np


def make(values, dtype, shape):
    dtype = np.dtype(dtype)
    data = values(dtype.name, int(np.prod(shape)), dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape)


def with_batch(shape, batch, what):
    """The shape with another first size; open sizes other than the first one count as 1."""
    sizes = [n if isinstance(n, int) and n > 0 else 1 for n in shape]
    if batch > 1 and (not sizes or sizes[0] != 1):
        raise RuntimeError(f"{what} does not begin with a batch of 1")
    return [batch, *sizes[1:]] if batch > 1 else sizes


class LiteRt:
    def __init__(self):
        from ai_edge_litert import interpreter
        self.kind = interpreter.Interpreter
        self.version = importlib.metadata.version("ai-edge-litert")

    def open(self, path, threads, batch):
        self.interpreter = self.kind(path, num_threads=threads)
        if batch > 1:
            for detail in self.interpreter.get_input_details():
                shape = with_batch(detail["shape"].tolist(), batch, detail["name"])
                self.interpreter.resize_tensor_input(detail["index"], shape)
        self.interpreter.allocate_tensors()
        self.run = self.interpreter.invoke

    def fill(self, values):
        for detail in self.interpreter.get_input_details():
            data = make(values, detail["dtype"], detail["shape"].tolist())
            self.interpreter.set_tensor(detail["index"], data)

    def outputs(self):
        return self.interpreter.get_tensor(
            self.interpreter.get_output_details()[0]["index"]).ravel().tolist()


class Mnn:
    """The network by mnnconvert; its inputs keep TensorFlow's order."""

    def __init__(self):
        import MNN
        self.mnn = MNN
        self.version = MNN.version()

    def open(self, path, threads, batch):
        self.interpreter = self.mnn.Interpreter(path)
        self.session = self.interpreter.createSession(
            {"backend": "CPU", "numThread": threads, "precision": "high"})
        self.entries = self.interpreter.getSessionInputAll(self.session)
        if batch > 1:
            for name, entry in self.entries.items():
                shape = with_batch(list(entry.getShape()), batch, name)
                self.interpreter.resizeTensor(entry, tuple(shape))
            self.interpreter.resizeSession(self.session)

    def fill(self, values):
        mnn = self.mnn
        kinds = {mnn.Halide_Type_Float: "float32", mnn.Halide_Type_Uint8: "uint8",
                 mnn.Halide_Type_Int: "int32"}
        for entry in self.entries.values():
            shape, kind = entry.getShape(), entry.getDataType()
            if kind not in kinds:
                raise RuntimeError("MNN's Python has no inputs of the network's type")
            data = np.ascontiguousarray(make(values, kinds[kind], shape))
            host = mnn.Tensor(shape, kind, data, mnn.Tensor_DimensionType_Tensorflow)
            entry.copyFrom(host)

    def run(self):
        self.interpreter.runSession(self.session)

    def outputs(self):
        out = self.interpreter.getSessionOutput(self.session)
        shape = out.getShape()
        host = self.mnn.Tensor(shape, self.mnn.Halide_Type_Float, np.zeros(shape, np.float32),
                               self.mnn.Tensor_DimensionType_Tensorflow)
        out.copyToHostTensor(host)
        return np.array(host.getData()).ravel().tolist()


class OnnxRuntime:
    """The network by tf2onnx; inputs and outputs are bound once, so that runs copy nothing."""

    def __init__(self):
        import onnxruntime
        self.ort = onnxruntime
        self.version = onnxruntime.__version__

    def open(self, path, threads, batch):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        self.session = self.ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.batch = batch

    def fill(self, values):
        names = {"tensor(float)": "float32", "tensor(uint8)": "uint8", "tensor(int8)": "int8",
                 "tensor(int32)": "int32", "tensor(int64)": "int64"}
        self.binding = self.session.io_binding()
        for entry in self.session.get_inputs():
            shape = with_batch(entry.shape, self.batch, entry.name)
            if isinstance(entry.shape[0], int) and shape[0] != entry.shape[0]:
                raise RuntimeError(f"the network's batch is fixed to {entry.shape[0]}")
            self.binding.bind_cpu_input(entry.name, make(values, names[entry.type], shape))
        for result in self.session.get_outputs():
            self.binding.bind_output(result.name)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()[0].ravel().tolist()


class Ncnn:
    """The network by pnnx: channels come first, and there are no batches."""

    def __init__(self):
        import ncnn
        self.ncnn = ncnn
        self.version = importlib.metadata.version("ncnn")

    def open(self, path, threads, batch):
        if batch > 1:
            raise RuntimeError("ncnn has no batches")
        self.net = self.ncnn.Net()
        self.net.opt.num_threads = threads
        for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
            setattr(self.net.opt, name, False)  # float32, as the others
        if self.net.load_param(path) != 0 or self.net.load_model(path[:-len("param")] + "bin") != 0:
            raise RuntimeError(f"{path} cannot be loaded")
        with open(path[:-len("param")] + "shape", encoding="ascii") as file:
            self.shape = [int(n) for n in file.read().split()]
        self.names = self.net.input_names()[0], self.net.output_names()[0]

    def fill(self, values):
        """The same image as for the others: theirs has its channels last."""
        if len(self.shape) == 4:
            _, channels, height, width = self.shape
            data = make(values, "float32", (height, width, channels)).transpose(2, 0, 1)
        else:
            data = make(values, "float32", self.shape[1:])
        self.data = np.ascontiguousarray(data)  # which the Mat does not copy
        self.entry = self.ncnn.Mat(self.data)

    def run(self):
        extractor = self.net.create_extractor()
        extractor.input(self.names[0], self.entry)
        status, self.result = extractor.extract(self.names[1])
        if status != 0:
            raise RuntimeError(f"ncnn's extract gives {status}")

    def outputs(self):
        result = np.array(self.result)
        return (result.transpose(1, 2, 0) if result.ndim == 3 else result).ravel().tolist()
