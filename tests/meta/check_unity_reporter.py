"""Checks the unity reporter and the exit codes of topwork_tests against its sample tests.

Usage: check_unity_reporter.py TOPWORK_TESTS
"""
import re
import subprocess
import sys

SAMPLES = "tests/meta/reporter_samples_test.cc"
RULE = "-" * 23


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], stdout=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout.decode()


def expect(what, actual, wanted):
    if actual != wanted:
        sys.exit(f"{what}:\n  expected {wanted!r}\n  got      {actual!r}")


def check_mixed(binary):
    code, text = run(binary, "[sample]", "--reporter", "unity", "--skip-code", "77")
    expect("exit code is the number of failed tests", code, 2)
    lines = text.split("\n")
    expect("number of lines", len(lines), 9)
    where = re.escape(SAMPLES) + r":(\d+):"
    patterns = [
        where + "sample passes:PASS",
        where + r"sample; fails:FAIL: CHECK\( 1 \+ 1 == 3 \), got 2 == 3, hint; look here",
        where + r"sample throws:FAIL: unexpected exception, a;b\\nc",
        where + "sample skips:IGNORE: nothing; to test",
        "", RULE, "4 Tests 2 Failures 1 Ignored ", "FAIL", ""]
    for line, pattern in zip(lines, patterns):
        if not re.fullmatch(pattern, line):
            sys.exit(f"line {line!r} does not match {pattern!r}; the whole output:\n{text}")
    for line in lines[:4]:
        if len(line.split(":")) not in (4, 5):
            sys.exit(f"parsers need 4 or 5 fields: {line!r}")
    source = open(sys.path[0] + "/reporter_samples_test.cc", encoding="utf-8").read().split("\n")
    failed = int(lines[1].split(":")[1])
    if "1 + 1 == 3" not in source[failed - 1]:
        sys.exit(f"a failure must carry the line of its assertion, not {failed}")


def check_codes(binary):
    footer = f"\n{RULE}\n1 Tests 0 Failures 0 Ignored \nOK\n"
    code, text = run(binary, "sample passes", "--reporter", "unity")
    expect("exit code of a passing run", code, 0)
    if not text.endswith(":PASS\n" + footer):
        sys.exit(f"footer of a passing run: {text!r}")
    code, text = run(binary, "[sample-skip]", "--skip-code", "77")
    expect("exit code of a skipping run", code, 77)
    if "SKIP sample skips: nothing: to test\n" not in text or "1 tests skipped\n" not in text:
        sys.exit(f"a skip must be printed: {text!r}")
    expect("exit code of a skip by default", run(binary, "[sample-skip]")[0], 0)
    expect("a failure is stronger than --skip-code",
           run(binary, "[sample-fail],[sample-skip]", "--skip-code", "2")[0], 1)
    expect("a test without assertions fails", run(binary, "[sample-empty]")[0], 1)
    code, text = run(binary, "[no-such-tag]")
    if code == 0 or "No test cases matched" not in text:
        sys.exit(f"an empty selection must fail: exit {code}, {text!r}")


def check_crash(binary):
    code, text = run(binary, "[sample-crash]", "--reporter", "unity")
    if code == 0 or "sample crashes:" not in text or ":PASS" in text:
        if not (code != 0 and text == ""):  # Under sanitizers the process ends without a line.
            sys.exit(f"a crash must fail and be named: exit {code}, {text!r}")
    if text and "SIGSEGV" not in text:
        sys.exit(f"a crash must name its signal: {text!r}")


check_mixed(sys.argv[1])
check_codes(sys.argv[1])
check_crash(sys.argv[1])
print("unity reporter: all lines as expected")
