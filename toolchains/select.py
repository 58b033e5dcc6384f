#!/usr/bin/env python3
"""What models need of Topwork, for a build that has nothing else (TOPWORK_SELECTION).

Usage: select.py [--train] [--quantize] [--opencl] [--calls APPLICATION]... MODEL.tflite... > my.selection
       cmake --preset minsize -DTOPWORK_SELECTION=my.selection

A line of the selection is an operator's name and the types of its inputs and outputs, or a function of the C API that the
shared library exports (without such lines it exports all); text behind a # is a comment. Lines may be added by hand. Needs Python's standard library and this source tree, no build.
Exit code: 1 a file that cannot be read or is no model Topwork knows; 2 wrong usage. Nothing is printed then.
"""
import argparse
import glob
import os
import re
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONTRACT = os.path.join(ROOT, "kernels", "contract")
QUANTIZED = {"int8", "uint8", "int16"}
CUSTOM = 32
ADDED = {"train": "add what training of the last layer needs: the new head and what an export puts around it",
         "quantize": "add what quantizing the models needs: their operators in int8, inputs and outputs in uint8",
         "opencl": "add what measuring an OpenCL device needs, so that `auto` can choose"}


class Bad(Exception):
    """A file that is not what it should be."""


def read(name):
    with open(os.path.join(CONTRACT, name), encoding="utf-8") as file:
        return file.read()


def type_names():
    with open(os.path.join(ROOT, "toolchains", "selection.cmake"), encoding="utf-8") as file:
        return re.search(r"set\(types ([^)]*)\)", file.read())[1].split()


def api_functions():
    found = set()
    for header in glob.glob(os.path.join(ROOT, "runtime", "include", "topwork", "*.h")):
        with open(header, encoding="utf-8") as file:
            found |= set(re.findall(r"^TW_API [^(;]*?(tw_\w+)\(", file.read(), re.MULTILINE))
    return found


def calls_of(path, functions):
    """Those functions of the C API that a C source, an object, a library or a program names."""
    with open(path, "rb") as file:
        calls = set(re.findall(r"tw_[a-z0-9_]+", file.read().decode("latin-1"))) & functions
    if not calls:
        raise Bad("it names no function of the C API; --calls takes C sources, objects, libraries and programs, "
                  "and of C++ the objects")
    return calls


class Table:
    """A table of a FlatBuffer. Fields are numbered as in models/schema/tflite.fbs."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - self.number("i", at)

    def number(self, code, at):
        if at < 0:
            raise Bad("an offset points outside the file")
        try:
            return struct.unpack_from("<" + code, self.data, at)[0]
        except struct.error:
            raise Bad("an offset points outside the file") from None

    def place(self, field):
        slot = 4 + 2 * field
        if slot >= self.number("H", self.vtable):
            return None
        offset = self.number("H", self.vtable + slot)
        return self.at + offset if offset else None

    def scalar(self, field, code, default=0):
        place = self.place(field)
        return default if place is None else self.number(code, place)

    def vector(self, field):
        """The places of a vector's elements of four bytes, and how many there are."""
        place = self.place(field)
        if place is None:
            return 0, 0
        start = place + self.number("I", place)
        count = self.number("I", start)
        if start + 4 + 4 * count > len(self.data):
            raise Bad("a list is longer than the file")
        return start + 4, count

    def numbers(self, field):
        start, count = self.vector(field)
        return struct.unpack_from(f"<{count}i", self.data, start) if count else ()

    def tables(self, field):
        start, count = self.vector(field)
        return [Table(self.data, start + 4 * i + self.number("I", start + 4 * i)) for i in range(count)]

    def text(self, field):
        place = self.place(field)
        if place is None:
            return ""
        start = place + self.number("I", place)
        return self.data[start + 4:start + 4 + self.number("I", start)].decode("utf-8", "replace")


class Names:
    """What operators are called: builtin ones by number, and TensorFlow's names of them."""

    def __init__(self):
        self.builtin = re.findall(r'"(\w+)"', read("op_names.inc"))
        codes = dict(re.findall(r"(k\w+) = (\d+)", read("op_codes.h")))
        self.flex = {name.replace("_", ""): name for name in self.builtin}
        for name, code in re.findall(r'{"(\w+)", OpCode::(k\w+)}', read("flex_ops.cc")):
            self.flex[name.upper()] = self.builtin[int(codes[code])]

    def of_custom(self, name):
        """Its name, and that of the operator which Topwork takes for one of TensorFlow's."""
        if not re.fullmatch(r"[^\s#;\"\\]+", name):
            raise Bad(f"the custom operator {name!r} has a name that a selection cannot hold")
        if name.startswith("Flex"):
            own = name[4:]
            return [name, own if "TensorList" in own else self.flex.get(own.upper(), name)]
        return [name]

    def of(self, code):
        number = max(code.scalar(0, "b"), code.scalar(3, "i"))
        if number == CUSTOM:
            return self.of_custom(code.text(1))
        if not 0 <= number < len(self.builtin):
            raise Bad(f"operator code {number} is newer than this Topwork")
        return [self.builtin[number]]


def add_subgraph(graph, op_names, types, selection):
    tensors = graph.tables(0)
    type_of = []
    for tensor in tensors:
        number = tensor.scalar(1, "b")
        if not 0 <= number < len(types):
            raise Bad(f"a tensor has type {number}, which Topwork does not have")
        type_of.append(types[number])
    for op in graph.tables(3):
        index = op.scalar(0, "I")
        if index >= len(op_names):
            raise Bad(f"an operator has code #{index} of {len(op_names)}")
        used = [t for field in (1, 2, 8) for t in op.numbers(field) if 0 <= t < len(tensors)]
        add(selection, op_names[index], {type_of[t] for t in used})
        weights = op.numbers(1)[1:2]
        if op_names[index] == ["CONV_2D"] and weights and 0 <= weights[0] < len(tensors):
            # One input channel for each filter: the plan turns it into a depthwise convolution.
            if tensors[weights[0]].numbers(0)[3:] == (1,):
                add(selection, ["DEPTHWISE_CONV_2D"], {type_of[t] for t in used})


def add_model(path, names, types, selection):
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 8 or data[4:8] != b"TFL3":
        raise Bad("it is no .tflite model")
    model = Table(data, struct.unpack_from("<I", data)[0])
    op_names = [names.of(code) for code in model.tables(1)]
    for graph in model.tables(2):
        add_subgraph(graph, op_names, types, selection)


def add(selection, names, types):
    for name in names:
        selection.setdefault(name, set()).update(types)


def add_companions(selection, args):
    """Operators that Topwork itself puts into a plan, a training run or an exported model."""
    if args.quantize:
        for used in selection.values():
            if "float32" in used:
                used |= {"int8", "int32"}
    used = set().union(*selection.values())
    if used & {"float16", "bfloat16"}:
        add(selection, ["CAST"], {"float32"} | used & {"float16", "bfloat16"})
    if used & QUANTIZED:
        add(selection, ["QUANTIZE"], {"float32"} | used & QUANTIZED)
    if args.train:
        add(selection, ["FULLY_CONNECTED", "SOFTMAX"], {"float32"} | used & QUANTIZED)
        add(selection, ["FULLY_CONNECTED", "MEAN"], {"float32", "int32"})
    if (args.train or args.quantize) and used & (QUANTIZED | {"float16"}):
        add(selection, ["DEQUANTIZE"], {"float32"} | used & (QUANTIZED | {"float16"}))
    if args.quantize:  # around models whose inputs and outputs are uint8
        add(selection, ["QUANTIZE"], {"int8", "uint8"})
    if args.opencl:
        add(selection, ["ADD", "FULLY_CONNECTED", "SLICE"], {"float32", "int32"})


def main():
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL.tflite", help="models that the build is to run")
    for flag, about in ADDED.items():
        parser.add_argument("--" + flag, action="store_true", help=about)
    parser.add_argument("--calls", action="append", default=[], metavar="APPLICATION",
                        help="a C source, object, library or program: the shared library exports only the functions "
                        "that such files name (may be given more than once)")
    args = parser.parse_args()
    names, types, selection, calls = Names(), type_names(), {}, set()
    try:
        for path in args.models:
            add_model(path, names, types, selection)
        functions = api_functions() if args.calls else set()
        for path in args.calls:
            calls |= calls_of(path, functions)
    except Bad as error:
        sys.exit(f"{path}: {error}")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    add_companions(selection, args)
    flags = "".join(f" --{flag}" for flag in ADDED if getattr(args, flag))
    print(f"# toolchains/select.py{flags} of:")
    for path in sorted(map(os.path.basename, args.models + args.calls)):
        print(f"#   {path}")
    for name in sorted(selection):
        print(name, *sorted(selection[name], key=types.index))
    for name in sorted(calls):
        print(name)


if __name__ == "__main__":
    main()
