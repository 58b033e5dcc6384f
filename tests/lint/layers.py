"""Layer lint: a file includes its own folder or a lower layer, and respects five fences; no folders of kernels
include each other.

Fences: CL/* and clblast* only in runtime/backend/opencl; headers of runtime/backend/opencl, and
the namespace opencl, only in runtime/backend; Eigen only in .cc files of kernels and
runtime/train; generated schema headers and flatbuffers only in .cc files of models/format;
operating-system headers only in ports. `layers.py --self-test` checks the lint itself.
"""
import re
import sys

import tree

# Longest prefix wins. The public header is used by its implementation and the ports.
LAYERS = {
    "ports/port.h": 0, "models/schema/": 0, "runtime/base/": 1, "runtime/tensor/": 2, "kernels/": 3,
    "models/format/": 4, "runtime/backend/": 4, "runtime/plan/": 5, "runtime/session/": 6,
    "runtime/train/": 7, "runtime/include/": 8, "runtime/api/": 8, "ports/": 9,
}
OS_HEADER = re.compile(
    r"(sys|linux|android|arpa|netinet|net|mach|asm)/|"
    r"(unistd|fcntl|dlfcn|pthread|sched|poll|dirent|termios|glob|fnmatch|ftw|pwd|grp|syslog|spawn|"
    r"ucontext|execinfo|windows|io|semaphore|aio|mman|libgen|strings)\.h$")
BACKEND = "runtime/backend/"
SAMPLE = "ports/jetson/sample/"  # a program that users copy out of the tree: it includes its own headers by their names
OPENCL_TYPE = re.compile(r"\bopencl::")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def layer_of(path):
    prefix = max((p for p in LAYERS if path.startswith(p)), key=len, default=None)
    return prefix, LAYERS.get(prefix)


def resolve(path, header):
    if header.startswith("topwork/"):
        return "runtime/include/" + header
    if path.startswith(SAMPLE) and "/" not in header:
        return SAMPLE + header
    return header


def folder_of(path, prefix):
    """The unit that may include itself: kernels, runtime/plan, ports/cli."""
    if prefix == "ports/":
        return "/".join(path.split("/")[:2]) + "/"
    return prefix


def check(path, header, quoted, exists):
    """The complaint about one include, or None."""
    prefix, layer = layer_of(path)
    if layer is None:
        return "lies in no layer; see LAYERS in tests/lint/layers.py"
    in_cc = path.endswith(".cc")
    if re.match(r"(CL/|clblast)", header) and not path.startswith("runtime/backend/opencl/"):
        return "OpenCL headers belong in runtime/backend/opencl"
    if header.startswith("runtime/backend/opencl/") and not path.startswith(BACKEND):
        return "OpenCL's own headers belong in runtime/backend; use runtime/backend/devices.h"
    if re.match(r"(unsupported/)?Eigen/", header):
        if not (in_cc and path.startswith(("kernels/", "runtime/train/"))):
            return "Eigen belongs in .cc files of kernels and runtime/train"
        return None
    if header == "isa_list.inc":  # written by toolchains/library.cmake
        return None if in_cc and path.startswith("kernels/") else "isa_list.inc belongs in kernels"
    if header == "selection.inc":  # written by toolchains/selection.cmake
        headers = ("kernels/contract/selection.h", "runtime/tensor/selected_types.h")
        return None if path in headers else "selection.inc belongs in " + " and ".join(headers)
    if header == "limits_list.inc":  # written by toolchains/limits.cmake
        return None if in_cc and path.startswith("ports/cli/") else "limits_list.inc belongs in ports/cli"
    if header.startswith("flatbuffers/") or header.endswith("_generated.h"):
        if not (in_cc and path.startswith("models/format/")):
            return "schema headers belong in .cc files of models/format"
        return None
    if not quoted and OS_HEADER.match(header) and layer != 9:
        return "operating-system headers belong in ports"
    target = resolve(path, header)
    if not quoted and not header.startswith("topwork/"):
        return None
    if not exists(target):
        return "is no file; includes are written from the root of the tree"
    target_prefix, target_layer = layer_of(target)
    if target_layer is None:
        return "lies in no layer"
    if folder_of(path, prefix) == folder_of(target, target_prefix) or target_layer < layer:
        return None
    if prefix == "runtime/api/" and target_prefix == "runtime/include/":
        return None
    return f"layer {layer} must not include layer {target_layer}"


def names_opencl(path, line):
    """Whether a line of code outside runtime/backend uses a name of the namespace opencl."""
    code = re.sub(r'"[^"]*"', '""', line).split("//")[0]
    return not path.startswith(BACKEND) and OPENCL_TYPE.search(code) is not None


def lint():
    known = set(tree.files())
    problems = []
    for path in tree.files(".h", ".hpp", ".cc", ".c", ".cpp", ".inc"):
        if not path.startswith(("runtime/", "kernels/", "models/", "ports/")):
            continue
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            if names_opencl(path, line):
                problems.append(f"{path}:{number}: {line.strip()}: opencl:: belongs in {BACKEND}")
            match = INCLUDE.match(line)
            if not match:
                continue
            problem = check(path, match[1] or match[2], match[1] is not None, known.__contains__)
            if problem:
                problems.append(f"{path}:{number}: {line.strip()}: {problem}")
    return problems


def circles(includes):
    """The folders of kernels that include each other, by way of others too; includes: (from, to) pairs."""
    reached = {}
    for start, _ in includes:
        seen, left = set(), [start]
        while left:
            folder = left.pop()
            for other in {to for origin, to in includes if origin == folder} - seen:
                seen.add(other)
                left.append(other)
        reached[start] = seen
    return sorted(folder for folder, seen in reached.items() if folder in seen)


def kernel_folders():
    """(from, to) for every include from one folder of kernels into another."""
    pairs = set()
    for path in tree.files(".h", ".cc"):
        if not path.startswith("kernels/"):
            continue
        for line in tree.read(path).split("\n"):
            match = INCLUDE.match(line)
            if match and match[1] and match[1].startswith("kernels/"):
                pair = path.rsplit("/", 1)[0], match[1].rsplit("/", 1)[0]
                if pair[0] != pair[1]:
                    pairs.add(pair)
    return pairs


def self_test():
    cases = [  # (file, header, quoted, allowed)
        ("runtime/base/a.cc", "ports/port.h", True, True),
        ("runtime/base/a.cc", "runtime/tensor/tensor.h", True, False),
        ("runtime/plan/a.cc", "models/format/graph.h", True, True),
        ("models/format/a.cc", "runtime/backend/backend.h", True, False),
        ("kernels/ops/conv/a.cc", "kernels/contract/kernel.h", True, True),
        ("kernels/contract/kernel.h", "Eigen/Core", False, False),
        ("kernels/ops/conv/a.cc", "Eigen/Core", False, True),
        ("runtime/plan/a.cc", "Eigen/Core", False, False),
        ("models/format/a.h", "tflite_generated.h", True, False),
        ("models/format/a.cc", "tflite_generated.h", True, True),
        ("kernels/cpu/a.cc", "isa_list.inc", True, True),
        ("runtime/plan/a.cc", "isa_list.inc", True, False),
        ("kernels/contract/selection.h", "selection.inc", True, True),
        ("kernels/contract/op_def.h", "selection.inc", True, False),
        ("ports/cli/a.cc", "limits_list.inc", True, True),
        ("kernels/cpu/a.cc", "limits_list.inc", True, False),
        ("runtime/base/a.cc", "unistd.h", False, False),
        ("runtime/base/a.cc", "sys/mman.h", False, False),
        ("ports/linux/a.cc", "sys/mman.h", False, True),
        ("runtime/base/a.cc", "CL/cl.h", False, False),
        ("runtime/backend/opencl/a.cc", "CL/cl.h", False, True),
        ("runtime/backend/devices.cc", "runtime/backend/opencl/context.h", True, True),
        ("runtime/session/a.cc", "runtime/backend/opencl/context.h", True, False),
        ("runtime/api/a.cc", "runtime/backend/opencl/context.h", True, False),
        ("runtime/session/a.cc", "runtime/backend/devices.h", True, True),
        ("runtime/api/a.cc", "topwork/topwork.h", False, True),
        ("runtime/session/a.cc", "topwork/topwork.h", False, False),
        ("ports/cli/a.cc", "ports/linux/b.h", True, False),
        ("ports/cli/a.cc", "topwork/topwork.h", False, True),
        ("elsewhere/a.cc", "vector", False, False),
    ]
    for path, header, quoted, allowed in cases:
        problem = check(path, header, quoted, lambda name: True)
        if (problem is None) != allowed:
            sys.exit(f"self-test: {path} includes {header}: expected allowed={allowed}, got {problem}")
    for path, line, refused in [
        ("runtime/train/a.cc", "std::unique_ptr<opencl::Workspace> workspace;", True),
        ("runtime/backend/devices.cc", "return opencl::ListDevices();", False),
        ("runtime/train/a.cc", "int a;  // as opencl::Workspace", False),
        ("runtime/train/a.cc", 'Log("opencl::Workspace");', False),
    ]:
        if names_opencl(path, line) != refused:
            sys.exit(f"self-test: {path}: {line}: expected refused={refused}")
    if circles({("a", "b"), ("b", "c")}) or circles({("a", "b"), ("b", "c"), ("c", "a")}) != ["a", "b", "c"]:
        sys.exit("self-test: circles of folders")
    if check("runtime/base/a.cc", "runtime/base/gone.h", True, lambda name: False) is None:
        sys.exit("self-test: a missing file must be a problem")


self_test()
found = lint()
if circles(kernel_folders()):
    found.append("folders of kernels include each other: " + ", ".join(circles(kernel_folders())))
if found:
    sys.exit("\n".join(found))
print("layers and fences hold")
