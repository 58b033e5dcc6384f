"""Arguments of the scripts that time two builds of topwork in turn."""
import argparse
import os
import pathlib
import sys


def parser(rounds):
    """TOPWORK BEFORE [MODEL]... and options; `rounds` is how many there are by default."""
    made = argparse.ArgumentParser()
    made.add_argument("topwork", type=os.path.abspath)
    made.add_argument("before", type=os.path.abspath)
    made.add_argument("models", nargs="*", type=pathlib.Path)
    made.add_argument("--device", default="opencl:0")
    made.add_argument("--rounds", type=int, default=rounds)
    made.add_argument("--rows")
    return made


def parsed(made):
    """What was given; the program ends where one of the files is not there."""
    arguments = made.parse_intermixed_args()
    if missing := [str(path) for path in (arguments.topwork, arguments.before, *arguments.models) if not os.path.isfile(path)]:
        sys.exit(f"no such file: {', '.join(missing)}")
    return arguments
