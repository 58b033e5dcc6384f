"""Messages fit their values: StrFormat, Log and the failures (InvalidModel(...)) get as many values
as their pattern has {}, and the pattern is a literal without printf's %d. Values need no casts.
"""
import re
import sys

import tree

FAILURES = ("InvalidArgument|InvalidModel|Invalid|Unsupported|OutOfMemory|IoError|Cancelled|"
            "FailedPrecondition|NumericError|NotFound|Corrupt|InternalError|StrFormat")
# A name after a type is a declaration: "Status InvalidModel(".
CALL = re.compile(rf"(?<!Status )(?<!string )\b(?:(?:{FAILURES})\(|Log\(LogLevel::\w+,)")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'')
PRINTF = re.compile(r"%[-+0]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[diufgxs]\b")
CAST = re.compile(r"^static_cast<(?:unsigned )?(?:long long|double)>\(|^[^?]*\.c_str\(\)$", re.S)


def without_comments(text):
    """Comments become spaces, so that lines keep their numbers."""
    found = re.compile(r"//[^\n]*|/\*.*?\*/|" + TEXT.pattern, re.S)
    return found.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else m.group(),
                     text)


def arguments(text, start):
    """The arguments of the call whose first one begins at `start`."""
    # Texts and what stands in brackets are hidden: the commas left are the call's own.
    depth, begin, found = 0, start, []
    at = start
    while True:
        literal = TEXT.match(text, at)
        if literal:
            at = literal.end()
            continue
        if depth == 0 and text[at] in ",)":
            found.append(text[begin:at].strip())
            begin = at + 1
            if text[at] == ")":
                return found if found != [""] else []
        elif text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        elif text[at] == "<" and re.match(r"<[\w:, ]+>\(", text[at:at + 80]):
            at += text[at:].index(">")
        at += 1


def problem(pattern, values):
    text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', pattern))
    if not pattern.startswith('"') or '"' in TEXT.sub("", pattern):
        return "the pattern is no literal"
    if PRINTF.search(text):
        return "values are marked by {}, not by " + PRINTF.search(text).group()
    wanted = len(re.findall(r"\{[^{}]*\}", text.replace("{{", "").replace("}}", "")))
    if wanted != len(values):
        return f"{wanted} marks and {len(values)} values"
    for value in values:
        if CAST.search(value):
            return "not needed: " + value
    return None


def problems(text):
    text = without_comments(text)
    for call in CALL.finditer(text):
        parts = arguments(text, call.end())
        wrong = problem(parts[0], parts[1:]) if parts else "there is no pattern"
        if wrong:
            yield text.count("\n", 0, call.start()) + 1, wrong


def self_test():
    def wrong(text):
        return len(list(problems(text)))
    assert wrong('InvalidModel("{} of {}", f(a, b), "c,d")') == 0
    assert wrong('Log(LogLevel::kInfo, "{:>4}{{" " {:.1f}", a[1, 2], V<int, 3>(x))') == 0
    assert wrong('Status InvalidModel(const char* pattern); // InvalidModel("{}")') == 0
    assert wrong('StrFormat("{}", x ? y.c_str() : "")') == 0
    assert wrong('StrFormat("{}")\n\ncontext.Invalid("all", 1)\n  Log(LogLevel::kInfo, "{}", a, b)') == 3
    assert wrong('NotFound(text)') == 1
    assert wrong('StrFormat("%d", 1) StrFormat("{} %zu", 1)') == 2
    assert wrong('StrFormat("{}", a.c_str()) StrFormat("{}", static_cast<long long>(a))') == 2
    assert [line for line, _ in problems('\n// x\nCorrupt("{}")')] == [3]


self_test()
found = [f"{path}:{line}: {wrong}" for path in tree.files(".cc", ".h") if not path.endswith(("base/format_test.cc", "contract/places.h"))
         for line, wrong in problems(tree.read(path))]
if found:
    sys.exit("Messages that do not fit their values:\n  " + "\n  ".join(found))
print("every message fits its values")
