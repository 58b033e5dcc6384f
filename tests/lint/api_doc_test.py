"""The C API's headers keep their own conventions.

Usage: api_doc_test.py [LIBRARY]. Every TW_API function has a comment of whole sentences that ends with
its thread rule, says who owns what it gives, and is named tw_<noun>_<verb>; there are at most 105, and
at least half of the lines are comments; each function is called by a test in
tests/runtime/api; structs begin with struct_size, unless they are elements of arrays, or parts of
options, which end with reserved bytes. With LIBRARY: it exports exactly these functions.
"""
import re
import subprocess
import sys

import tree

HEADERS = "runtime/include/topwork/"
MOST_FUNCTIONS = 105
LEAST_COMMENTS = 0.5  # of the lines that are not empty, the preprocessor's apart
NOUNS = ("model", "session", "trainer", "learner", "judge", "monitor", "quantizer", "op", "device", "memory", "log",
         "status", "dtype")
ELEMENTS = ("tw_string", "tw_shape", "tw_class_metrics", "tw_reliability_bin", "tw_worst_example", "tw_group_metrics",
            "tw_audited_example", "tw_suggestion", "tw_learner_example", "tw_trainer_candidate",
            "tw_parameter_info", "tw_session_head", "tw_feature_worker", "tw_float_operator",
            "tw_shared_memory")  # of arrays, which cannot grow
PARTS = ("tw_opencl_options", "tw_head_options", "tw_loss_options", "tw_optimizer_options",
         "tw_schedule_options", "tw_stopping_options", "tw_augmentation_options", "tw_feature_options",
         "tw_input_scale")  # of options, which grow into their last member
# Functions of the library itself, which have no noun.
PLAIN = ("tw_version", "tw_last_error")
OPAQUE = ("tw_model", "tw_session", "tw_trainer", "tw_learner", "tw_quantizer", "tw_judge")


def functions(text):
    """(name, declaration, comment) of every TW_API declaration."""
    lines = text.split("\n")
    found = []
    for i, line in enumerate(lines):
        if not line.startswith("TW_API ") or "(" not in line:
            continue
        end = i
        while not lines[end].endswith(";"):
            end += 1
        declaration = " ".join(part.strip() for part in lines[i:end + 1])
        first = i
        while lines[first - 1].startswith("//"):
            first -= 1
        comment = " ".join(part[2:].strip() for part in lines[first:i])
        name = re.search(r"\b(tw_\w+)\(", declaration)[1]
        found.append((name, declaration, comment))
    return found


def complaints(name, declaration, comment):
    if not comment:
        yield "has no comment"
        return
    if not re.search(r"\[(any|one)\]$", comment):
        yield "does not end its comment with its thread rule, [any] or [one]"
    if "\"" not in comment[:1] and not comment[0].isupper():
        yield "has a comment that does not begin with a sentence"
    for out in re.findall(r"(?:char|void|tw_\w+)\*\* (out_\w+)", declaration):
        owned = re.search(r"\bown(s|ed)\b|[Bb]orrowed", comment)
        if not owned:
            yield f"does not say who owns *{out}"
    for what in re.findall(r"const (?:char|void)\*\* (out_\w+)", declaration):
        if "orrowed" not in comment:
            yield f"does not say that *{what} is borrowed"
    if name not in PLAIN and not re.match(rf"tw_({'|'.join(NOUNS)})_[a-z]", name):
        yield f"is not named tw_<noun>_<verb> with a noun of {NOUNS}"
    for size in re.findall(r"size_t (\w+)", declaration):
        if not re.match(r"n_|out_n_|out_\w*_bytes$|\w*_bytes$|index$|out_index$|rank$|struct_size$", size):
            yield f"has a size_t {size} that is neither n_… nor …_bytes"


def structs(text):
    """(name, first member) of every struct that is defined."""
    return re.findall(r"typedef struct (tw_\w+) \{\s*(?://[^\n]*\s*)*([^;]+);", text)


def comment_share(text):
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return sum(line.startswith("//") for line in lines) / len(lines)


def check(text, tests):
    problems = []
    if comment_share(text) < LEAST_COMMENTS:
        problems.append(f"{comment_share(text):.2f} of the lines are comments, {LEAST_COMMENTS} at least")
    found = functions(text)
    if len(found) > MOST_FUNCTIONS:
        problems.append(f"{len(found)} functions, {MOST_FUNCTIONS} at most")
    for name, declaration, comment in found:
        problems += [f"{name} {problem}" for problem in complaints(name, declaration, comment)]
        if not re.search(rf"\b{name}\b", tests):
            problems.append(f"{name} is called by no test in tests/runtime/api")
    for name, member in structs(text):
        if member != "size_t struct_size" and name not in ELEMENTS + PARTS:
            problems.append(f"struct {name} begins with '{member}', not with struct_size")
    for name in PARTS:
        if name in text and not re.search(r"  uint64_t reserved\[\d\];\n\} " + name + ";", text):
            problems.append(f"struct {name} does not end with reserved bytes")
    if not text.isascii():
        problems.append("the header is not plain ASCII, which not every compiler reads")
    return problems


def self_test():
    good = "// Runs. [one]\nTW_API tw_status tw_session_go(tw_session* session);\n"
    bad = [
        "TW_API tw_status tw_session_go(tw_session* session);\n",
        "// Runs.\nTW_API tw_status tw_session_go(tw_session* session);\n",
        "// Runs. [one]\nTW_API tw_status tw_go(tw_session* session);\n",
        "// Gives. [one]\nTW_API tw_status tw_session_go(\n    char** out_text);\n",
        "// Gives. [one]\nTW_API tw_status tw_session_go(size_t length);\n",
        "// Owned. [one]\nTW_API tw_status tw_session_go(const char** out_text);\n",
        good + "typedef struct tw_x {\n  int a;\n} tw_x;\n",
        good * (MOST_FUNCTIONS + 1),
        good + "int a;\nint b;\n",
        good + "// A part.\ntypedef struct tw_loss_options {\n  // One.\n  int a;\n} tw_loss_options;\n",
    ]
    if check(good, "tw_session_go"):
        sys.exit(f"self-test: a good header has problems: {check(good, 'tw_session_go')}")
    if not check(good, ""):
        sys.exit("self-test: an untested function must be a problem")
    for text in bad:
        if not check(text, "tw_session_go tw_go"):
            sys.exit(f"self-test: no problem found in:\n{text[:200]}")


def exported(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE,
                            check=True).stdout.decode()
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.split()[-2] == "T"}


self_test()
header = "\n".join(tree.read(path) for path in tree.files(".h") if path.startswith(HEADERS))
sources = [path for path in tree.files(".cc", ".c") if path.startswith("tests/runtime/api/")]
found = check(header, "\n".join(tree.read(path) for path in sources))
names = {name for name, _, _ in functions(header)}
if len(sys.argv) > 1:
    for name in sorted(names ^ exported(sys.argv[1])):
        found.append(f"{name} is {'declared but not exported' if name in names else 'exported but not declared'}")
if found:
    sys.exit("\n".join(found))
print(f"{len(names)} functions, all documented and tested")
