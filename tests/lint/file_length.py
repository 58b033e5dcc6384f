"""Files stay short: 500 lines at most (400 for OpenCL kernels), no line of C++ above 100 columns."""
import sys

import tree

LIMITS = {".cc": 500, ".h": 500, ".hpp": 500, ".c": 500, ".py": 500, ".sh": 500, ".cmake": 500,
          ".inc": 500, ".java": 500, ".kt": 500, ".cl": 400, ".clh": 400}

problems = []
for path in tree.files(*LIMITS):
    n_lines = tree.read(path).count("\n")
    limit = LIMITS[path[path.rindex("."):]]
    if n_lines > limit:
        problems.append(f"{path}: {n_lines} lines, {limit} at most; split it")
if problems:
    sys.exit("\n".join(problems))
print("all files are short enough")
