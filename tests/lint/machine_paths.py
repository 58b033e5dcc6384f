"""No file names a path of somebody's machine or the host of a package registry."""
import re
import sys

import tree

# Written in pieces, so that this file passes its own check.
WORDS = ["/" + "root/", "/" + "home/", "/" + "Users/", "/" + "work/", "/" + "opt/tw",
         "pypi" + r"\.org", "python" + r"hosted\.org", "deb" + r"\.debian\.org", "registry" + r"\.npmjs",
         "repo" + r"1?\.maven"]
PATTERN = re.compile(r"(?<![A-Za-z0-9_.}])(?:" + "|".join(WORDS) + ")")
TEXT = (".cc", ".h", ".hpp", ".c", ".cl", ".clh", ".inc", ".py", ".sh", ".cmake", ".txt", ".md", ".json",
        ".in", ".java", ".kt", ".kts", ".xml", ".yml", ".toml", ".map", ".fbs", "run", ".clang-tidy", ".clang-format", ".gitignore")

problems = []
for path in tree.files(*TEXT):
    try:
        text = tree.read(path)
    except UnicodeDecodeError:
        problems.append(f"{path}: is no UTF-8 text")
        continue
    for number, line in enumerate(text.split("\n"), 1):
        if PATTERN.search(line):
            problems.append(f"{path}:{number}: {line.strip()[:120]}")
if problems:
    sys.exit("Paths of one machine, or hosts of registries:\n" + "\n".join(problems))
print("no machine's paths")
