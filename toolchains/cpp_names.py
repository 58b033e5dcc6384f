"""Names of C++ files that are to stand behind each other in one file: which are a file's own, and other names for them.

This is no parser: it knows words, brackets and the way that this project is written. Where it errs, compiling fails.
"""
import re

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>R"(?P<tag>\w*)\(.*?\)(?P=tag)")
  | (?P<text>"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')
  | (?P<line>^[ \t]*\#[ \t]*(?:include|if|ifdef|ifndef|elif|else|endif|undef|error|pragma)\b(?:\\\n|[^\n])*)
  | (?P<define>^[ \t]*\#[ \t]*define\b)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\d(?:[\w.]|'\d)*)
  | (?P<mark>->|::|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
CLOSING = {"(": ")", "[": "]", "{": "}"}


def tokens_of(text):
    """(kind, text, start) of what is no comment."""
    return [(match.lastgroup, match[0], match.start()) for match in TOKEN.finditer(text) if match.lastgroup != "comment"]


def code_of(text):
    """Tokens without the preprocessor's lines."""
    result, end = [], -1
    for token in tokens_of(text):
        kind, _, start = token
        if kind == "define":
            end = re.compile(r"(?:\\\n|[^\n])*").match(text, start).end()
        if start >= end and kind not in ("line", "define"):
            result.append(token)
    return result


def matching(code, at):
    """The place of the bracket that closes the one at `at`."""
    opening, depth = code[at][1], 0
    for i in range(at, len(code)):
        if code[i][1] == opening:
            depth += 1
        elif code[i][1] == CLOSING[opening]:
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"no bracket closes '{opening}'")


def skip_angles(code, at):
    """Behind the <...> that begins at `at`."""
    depth = 0
    while True:
        mark = code[at][1]
        if mark in "([{":
            at = matching(code, at)
        depth += (mark == "<") - (mark == ">")
        at += 1
        if depth == 0:
            return at


def declaration(code, at):
    """The tokens of the declaration at `at` with empty brackets, what braces held, and the place behind it."""
    words, bodies, is_function = [], [], False
    while at < len(code) and code[at][1] != ";":
        mark = code[at][1]
        if mark == "template":
            at = skip_angles(code, at + 1)
        elif mark in ("__attribute__", "alignas", "decltype"):
            at = matching(code, at + 1) + 1
        elif mark == "[" and code[at + 1][1] == "[":
            at = matching(code, at) + 1
        elif mark in CLOSING:
            end = matching(code, at)
            words.append(code[at])
            if mark == "{":
                bodies.append(code[at + 1:end])
            is_function |= mark == "("
            at = end + 1
            if mark == "{" and is_function and "=" not in [word[1] for word in words]:
                return words, bodies, at
        else:
            words.append(code[at])
            at += 1
    return words, bodies, at + 1


def declared(words, bodies):
    """The names that a declaration adds to its namespace."""
    texts = [word[1] for word in words]
    if not texts or texts[0] == "static_assert" or "operator" in texts or texts[0] == "using" and "=" not in texts:
        return []
    if texts[0] == "using":
        return [texts[1]]
    if texts[0] == "typedef":
        return [[word[1] for word in words if word[0] == "word"][-1]]
    if texts[0] == "enum":
        names = [texts[2] if texts[1] in ("class", "struct") else texts[1]]
        if texts[1] not in ("class", "struct") and bodies:
            names += re.findall(r"(?:^|,)([A-Za-z_]\w*)", "".join(t for _, t, _ in bodies[0]))
        return [name for name in names if name.isidentifier()]
    if texts[0] in ("struct", "class", "union") and "(" not in texts and "=" not in texts:
        return [word[1] for word in words[1:2] if word[0] == "word"]
    return declared_value(words)


def declared_value(words):
    """The name of a function, the names of variables: words before the first of `( = [ {`, and those behind commas."""
    names, depth, is_open = [], 0, True
    for i, (kind, text, _) in enumerate(words):
        depth += (text == "<") - (text == ">")
        is_open |= depth == 0 and text == ","
        is_last = i + 1 == len(words) or words[i + 1][1] in ("(", "=", "[", "{", ",")
        if kind == "word" and is_open and depth == 0 and is_last:
            if i == 0 or words[i - 1][1] != "::":
                names.append(text)
            is_open = False
    return names


def own_names(code, is_own=False):
    """Names of a file that no other file sees: of its anonymous namespaces and static ones."""
    names, at = set(), 0
    while at < len(code):
        mark = code[at][1]
        if mark == "namespace" and "{" in (code[at + 1][1], code[at + 2][1]):
            start = at + 1 if code[at + 1][1] == "{" else at + 2
            end = matching(code, start)
            names |= own_names(code[start + 1:end], is_own or start == at + 1)
            at = end + 1
        elif mark in (";", "}"):
            at += 1
        elif mark == "extern" and code[at + 1][0] == "text" and code[at + 2][1] == "{":
            at += 3
        elif mark.isupper() and len(mark) > 3 and code[at + 1][1] == "(":  # a macro's call
            at = matching(code, at + 1) + 1
        else:
            words, bodies, at = declaration(code, at)
            if is_own or words and words[0][1] in ("static", "constexpr"):
                names.update(declared(words, bodies))
    return names


def members(code):
    """Names of members of the classes that are defined there."""
    names = set()
    for at, (_, text, _) in enumerate(code):
        if text in ("struct", "class") and code[at - 1][1] != "enum":
            start = next((i for i in range(at, len(code)) if code[i][1] in "{;(>,="), at)
            if code[start][1] == "{":
                body = code[start + 1:matching(code, start)]
                found = own_names([token for token in body if token[1] not in ("public", "private", ":")], True)
                names |= found - {code[at + 1][1]}  # constructors
    return names


def pasted(text):
    """What matches the names that macros of the file put together."""
    parts = [f"{before}.*" for before in re.findall(r"\b([A-Za-z_]\w*)##", text) if not before.islower()]
    parts += [f".*{after}" for after in re.findall(r"##([A-Za-z_]\w*)", text) if not after.islower()]
    return re.compile("|".join(parts) or "(?!)")


def rename(text, names, suffix):
    """`text` with the suffix at each of the names, but for members of other files' classes."""
    local = members(code_of(text)) & names
    spaces = {"topwork", *re.findall(r"\bnamespace (\w+) {", text)}
    pieces, done, previous = [], 0, ("", "", 0)
    before = previous
    for token in tokens_of(text):
        kind, name, start = token
        if kind == "word" and name in names and (name in local or not (
                previous[1] in (".", "->") or previous[1] == "::" and before[0] == "word" and before[1] not in spaces)):
            pieces += [text[done:start], name, suffix]
            done = start + len(name)
        if kind == "line" and not re.match(r"\s*#\s*include", name):
            pieces += [text[done:start], re.sub(r"\b[A-Za-z_]\w*", lambda m: m[0] + suffix * (m[0] in names), name)]
            done = start + len(name)
        before, previous = previous, token
    return "".join(pieces) + text[done:]


def make_internal(text):
    """`text` with each outermost `namespace topwork` inside an anonymous one, so that the compiler drops what nobody calls."""
    code, at, marks = code_of(text), 0, []
    while at + 2 < len(code):
        if code[at][1] == "{":
            at = matching(code, at)
        elif code[at][1] == "namespace" and code[at + 1][1] == "topwork" and code[at + 2][1] == "{":
            end = matching(code, at + 2)
            marks += [(code[at][2], "namespace { "), (code[end][2], "} ")]
            at = end
        at += 1
    for place, mark in reversed(marks):
        text = text[:place] + mark + text[place:]
    return text
