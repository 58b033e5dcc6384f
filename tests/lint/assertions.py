"""No test asserts what cannot fail: CHECK(true), REQUIRE(1), CHECK_FALSE(false), STATIC_REQUIRE(true).
"""
import re
import sys

import tree

VACUOUS = re.compile(r"\b\w*(?:CHECK|REQUIRE)(?:_FALSE)?\s*\(\s*!?\s*(?:true|false|\d+|nullptr)\s*\)")


def lines(text):
    """Numbers of the lines where such an assertion begins."""
    return [text.count("\n", 0, found.start()) + 1 for found in VACUOUS.finditer(text)]


def self_test():
    assert lines("CHECK(true);\nREQUIRE( 1 );\nCHECK_FALSE(\n  false);") == [1, 2, 3]
    assert lines("STATIC_REQUIRE(!false);") == [1]
    assert lines("CHECK(is_true);\nREQUIRE(f(true));\nCHECK(n == 1);\nCHECK(1 + 1 == 2);") == []


self_test()
problems = [f"{path}:{number}" for path in tree.files(".cc", ".h") if path.startswith("tests/")
            for number in lines(tree.read(path))]
if problems:
    sys.exit("Assertions that cannot fail:\n  " + "\n  ".join(problems))
print("every assertion can fail")
