"""Every test carries a tag of tests/groups.txt; otherwise no CTest would run it.

Usage: check_groups.py TOPWORK_TESTS EXPRESSION, where EXPRESSION selects tests of no group.
"""
import subprocess
import sys

listing = subprocess.run([sys.argv[1], sys.argv[2], "--list-test-names-only"],
                         stdout=subprocess.PIPE, check=True).stdout.decode()
names = [line for line in listing.splitlines() if line.strip()]
if names:
    sys.exit("These tests have no tag of tests/groups.txt:\n  " + "\n  ".join(names))
print("every test belongs to a group")
