"""Results of tests: read from the lines of the reporter `unity`, kept in a file, written as JUnit XML."""
import dataclasses
import json
import re
import xml.etree.ElementTree as xml

LINE = re.compile(r"^([^:\s][^:]*):(\d+):(.+):(PASS|FAIL|IGNORE)(?:: (.*))?$")


@dataclasses.dataclass
class Result:
    file: str
    line: int
    name: str
    kind: str  # PASS, FAIL or IGNORE
    message: str = ""

    def text(self):
        return f"{self.file}:{self.line}:{self.name}:{self.kind}" + (f": {self.message}" if self.message else "")


def parse(line):
    """The Result of a line, or None."""
    match = LINE.match(line)
    return Result(match[1], int(match[2]), match[3], match[4], match[5] or "") if match else None


def reported_name(name):
    """How the reporter writes a test's name."""
    return name.replace(":", ";")


def counts(results):
    kinds = [result.kind for result in results]
    return {"passed": kinds.count("PASS"), "failed": kinds.count("FAIL"), "skipped": kinds.count("IGNORE")}


def unity(results):
    """The whole page of a run that may have taken several processes."""
    n = counts(results)
    return "".join(result.text() + "\n" for result in results) + (
        f"\n-----------------------\n{len(results)} Tests {n['failed']} Failures {n['skipped']} Ignored \n"
        f"{'FAIL' if n['failed'] else 'OK'}\n")


def printable(text):
    """Without what XML 1.0 cannot hold."""
    return "".join(c for c in text if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff")


def junit(suite, results):
    n = counts(results)
    root = xml.Element("testsuite", name=suite, tests=str(len(results)), failures=str(n["failed"]), errors="0",
                       skipped=str(n["skipped"]))
    for result in results:
        case = xml.SubElement(root, "testcase", classname=printable(result.file), name=printable(result.name))
        if result.kind != "PASS":
            tag = "failure" if result.kind == "FAIL" else "skipped"
            xml.SubElement(case, tag, message=printable(result.message)).text = f"{result.file}:{result.line}"
    xml.indent(root)
    return xml.tostring(root, encoding="unicode") + "\n"


def save(path, key, results):
    path.write_text(json.dumps({"key": key, "results": [dataclasses.astuple(result) for result in results]}))


def load(path, key):
    """What an earlier run of the same `key` (program, tests and place) left, else nothing."""
    if not path.exists():
        return []
    kept = json.loads(path.read_text())
    return [Result(*fields) for fields in kept["results"]] if kept["key"] == key else []
