"""The pages: READMEs are short and hold no figures, links point at files that exist, BENCHMARKS.md is
what tests/peers/figures.json renders."""
import os
import re
import sys

import tree

sys.path.insert(0, os.path.join(tree.ROOT, "tests", "peers"))
import figures  # noqa: E402

MOST_WORDS = 1000
# Measured times, rates, sizes and gains; a README names limits and settings in words or other units.
FIGURE = re.compile(r"\d\s?(ms|µs|us|ns|MB|GB/s|GFLOP/s|steps/s)\b|\d\s(times|x) (as|faster|slower)\b|\d\.\d\s?%")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def problems_of_readme(path, text):
    words = len(text.split())
    if words > MOST_WORDS:
        yield f"{path}: {words} words, {MOST_WORDS} at most; move details beside the code"
    for number, line in enumerate(text.splitlines(), 1):
        found = FIGURE.search(line)
        if found:
            yield f"{path}:{number}: '{found.group()}' is a figure; it belongs in BENCHMARKS.md"


def problems_of_links(path, text):
    for target in LINK.findall(re.sub(r"`[^`]*`", "", text)):
        if re.match(r"[a-z]+:|#", target):
            continue
        place = os.path.normpath(os.path.join(tree.ROOT, os.path.dirname(path), target.split("#")[0]))
        if not os.path.exists(place):
            yield f"{path}: there is no {target}"


def main():
    problems = []
    pages = tree.files(".md")
    for path in pages:
        text = tree.read(path)
        problems += problems_of_links(path, text)
        if os.path.basename(path) == "README.md":
            problems += problems_of_readme(path, text)
    for wrong in ("It takes 2.5 ms.", "1.6 times as fast", "a 0.9 MB file", "99.6 % right"):
        if not list(problems_of_readme("x", wrong)):
            problems.append(f"tests/lint/pages.py does not find the figure in '{wrong}'")
    if not list(problems_of_links("README.md", "[x](no/such/file.md)")):
        problems.append("tests/lint/pages.py does not find a dead link")
    if tree.read("BENCHMARKS.md") != figures.render(figures.load()):
        problems.append("BENCHMARKS.md is not what figures.json renders: python3 tests/peers/figures.py render")
    print("\n".join(problems) or f"{len(pages)} pages are in order")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
