"""Doxygen's pages of the API: no warnings, and what the headers say stands on them.

Usage: doxygen.py      exit 77: doxygen is missing
"""
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# File: what must be on it.
WANTED = {
    "topwork_8h.html": ["Topwork opens a stock .tflite model", "tw_session_run(session);"],
    "base_8h.html": ["an allocation failed, or a memory limit was reached"],
    "model_8h.html": ["Writes the model as a .tflite file. The file appears complete or not at all."],
    "structtw__session__options.html": ["Where to compute, \"cpu\"; NULL: \"auto\"."],
    "classtw_1_1Session.html": ["A tw_session"],
}


def pages(folder, filter_line=""):
    settings = (ROOT / "toolchains/doxygen/Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {folder}\n{filter_line}\n"
    done = subprocess.run(["doxygen", "-"], input=settings, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def text_of(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", page.read_text())))


def main():
    if shutil.which("doxygen") is None:
        print("SKIP doxygen: doxygen is not installed (Debian: apt install doxygen)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="topwork_doxygen_") as name:
        code, said = pages(name)
        if code != 0 or said.strip():
            sys.exit(f"doxygen ends with {code}:\n{said}")
        problems = []
        for page, sentences in WANTED.items():
            text = text_of(pathlib.Path(name, "html", page))
            problems += [f"{page} lacks '{one}'" for one in sentences if one not in text]
            if "zwj" in text or "///" in text:
                problems.append(f"{page} shows marks of the filter")
        # The check can fail: without the filter nothing is documented.
        pages(name, "FILTER_PATTERNS =")
        if WANTED["topwork_8h.html"][0] in text_of(pathlib.Path(name, "html", "topwork_8h.html")):
            problems.append("comments are on the pages without the filter, which is then not needed")
    print("\n".join(problems) or "no warnings, and the headers' sentences are there")
    sys.exit(1 if problems else 0)


main()
