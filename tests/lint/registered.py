"""Every script of tests/ that ends in _test.py is run by CTest: a CMake file names it, or a loop that has its word. A
name without a folder is given to a script that runs it, in the same folder."""
import re
import sys

import tree

PREFIX = "${CMAKE_CURRENT_SOURCE_DIR}/"
SCRIPT = re.compile(r"[\w./${}-]+\.py\b")
VARIABLE = re.compile(r"\\\$\\\{\w+\\\}")


def is_named(path, text):
    """`path`: below tests/; in `text`, a CMake file's."""
    for name in SCRIPT.findall(text.replace(PREFIX, "")):
        own = path if "/" in name else path.split("/")[-1]
        found = re.fullmatch(VARIABLE.sub(r"([\\w-]+)", re.escape(name)), own)
        if found and all(re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/.-])", text) for word in found.groups()):
            return True
    return False


def self_test():
    loop = "foreach(name IN ITEMS errors a-b)\n  tw_script_test(x y cli/${name}_test.py)"
    assert is_named("cli/errors_test.py", loop) and is_named("cli/a-b_test.py", loop)
    assert not is_named("cli/error_test.py", loop) and not is_named("cli/a_test.py", loop)
    assert not is_named("other/errors_test.py", loop)
    assert is_named("python/ray_test.py", "tw_script_test(x y python/run_test.py ray_test.py)")
    assert is_named("cli/b_test.py", 'COMMAND x "${CMAKE_CURRENT_SOURCE_DIR}/cli/b_test.py"')
    assert not is_named("cli/b_test.py", "tw_script_test(c cli/b_testXpy cli/bb_test.py other/b_test.py)")


self_test()
texts = [tree.read(path) for path in tree.files(".cmake", "CMakeLists.txt")]
scripts = [path[len("tests/"):] for path in tree.files("_test.py") if path.startswith("tests/")]
lost = [path for path in scripts if not any(is_named(path, text) for text in texts)]
if lost or not scripts:
    sys.exit("No CTest runs these, as no CMake file names them:\n  " + "\n  ".join(lost))
print(f"CTest runs {len(scripts)} scripts")
