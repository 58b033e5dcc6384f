"""The manual page topwork.1 has every command, flag, exit code and environment variable of the command line.

Usage: manual_page_test.py TOPWORK [--write]
--write puts the flags of every command's --help into the page's section OPTIONS.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "ports/cli/topwork.1"
SECTION = re.compile(r"^\.SH OPTIONS\n.*?(?=^\.SH )", re.M | re.S)
SHARED = 3  # a flag that says the same in so many commands stands once


def flags_of(help_text):
    """[[flag with its value, text]] of a command's --help."""
    flags = []
    for line in help_text.split("Options:\n", 1)[1].splitlines():
        option = re.match(r"  (-\S.*?)(?:   *(?! )(.*))?$", line)
        if option and not line.startswith(" " * 3):
            flags.append([option.group(1), option.group(2) or ""])
        elif re.match(r" {30}\S", line) and flags:
            flags[-1][1] = (flags[-1][1] + " " + line.strip()).strip()
        elif line and not re.match(r"[A-Z][^.]*:$", line):
            break  # the footer
    return [flag for flag in flags if flag[0] != "-h,--help"]


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def paragraphs(flags):
    return "".join(".TP\n.B %s\n%s\n" % (roff(flag), roff(text)) for flag, text in flags)


def options_section(flags):
    """The section's text, of {command: its flags}."""
    all_flags = [tuple(flag) for command in flags.values() for flag in command]
    shared = [flag for i, flag in enumerate(all_flags)
              if all_flags.count(flag) >= SHARED and flag not in all_flags[:i]]
    text = ".SH OPTIONS\n.SS Of several commands\n" + paragraphs(shared)
    for command, its in flags.items():
        own = [flag for flag in its if tuple(flag) not in shared]
        text += '.SS "topwork %s"\n%s' % (command, paragraphs(own)) if own else ""
    return text


def main():
    def say(*options):
        return subprocess.run([sys.argv[1], *options], capture_output=True, text=True, check=True).stdout

    page = PAGE.read_text()
    told = say("--help")
    commands = re.findall(r"^  ([a-z]+) {3,}", told.split("Subcommands:")[1].split("Exit codes:")[0], re.M)
    flags = {command: flags_of(say(command, "--help")) for command in commands}
    if "--write" in sys.argv:
        page = SECTION.sub(lambda _: options_section(flags), page)
        PAGE.write_text(page)
    codes = set(re.findall(r"^ +(\d+)  ", told.split("Exit codes:")[1], re.M))
    table = (ROOT / "ARCHITECTURE.md").read_text()
    variables = set(re.findall(r"^\| `(TOPWORK_[A-Z_]+)` \| library", table, re.M))
    problems = []
    for kind, wanted, found in (
            ("commands", set(commands), re.findall(r"^\.TP\n\.B ([a-z]+)$", page, re.M)),
            ("exit codes", codes, re.findall(r"^\.TP\n(\d+)$", page, re.M)),
            ("variables", variables, re.findall(r"^\.TP\n\.B (TOPWORK_[A-Z_]+)$", page, re.M))):
        if not wanted or set(found) != wanted:
            problems.append(f"{kind}: the page has {sorted(found)}, the program {sorted(wanted)}")
    for command, its in flags.items():
        n_told = len(set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", say(command, "--help"), re.M)) - {"--help"})
        if len(its) != n_told or not all(text for _, text in its):
            problems.append(f"{command}: {len(its)} flags are read from its help, which has {n_told}")
    section = SECTION.search(page)
    if section is None or section.group() != options_section(flags):
        problems.append("the section OPTIONS is not what --help says: manual_page_test.py TOPWORK --write")
    version = say("--version").split()[-1]
    if f'"topwork {version}"' not in page:
        problems.append(f"the page is not of version {version}")
    print("\n".join(problems) or "the page is complete")
    sys.exit(1 if problems else 0)


main()
