"""No test asserts what cannot fail: a macro of Catch2 around true, false, a number or nullptr."""
import re
import sys

import tree

VACUOUS = re.compile(r"\b\w*(?:CHECK|REQUIRE)(?:_FALSE)?\s*\(\s*!?\s*(?:true|false|\d+|nullptr)\s*\)")


def lines(text):
    """Numbers of the lines where such an assertion begins."""
    return [text.count("\n", 0, found.start()) + 1 for found in VACUOUS.finditer(text)]


def self_test():
    # Spelt in pieces, so that a search of the tree for such assertions does not find these.
    assert lines("CHECK" "(true);\nREQUIRE" "( 1 );\nCHECK_FALSE" "(\n  false);") == [1, 2, 3]
    assert lines("STATIC_REQUIRE" "(!false);") == [1]
    assert lines("CHECK(is_true);\nREQUIRE(f(true));\nCHECK(n == 1);\nCHECK(1 + 1 == 2);") == []


self_test()
problems = [f"{path}:{number}" for path in tree.files(".cc", ".h") if path.startswith("tests/")
            for number in lines(tree.read(path))]
if problems:
    sys.exit("Assertions that cannot fail:\n  " + "\n  ".join(problems))
print("every assertion can fail")
