"""A type's name means one type: two of one name in one namespace are one to the linker, which keeps the code of either."""

import os
import re

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;{]*)?\s*\{", re.MULTILINE)


def types(text):
    """(namespace, name, line) of each type that a header defines outside other types."""
    spaces = [(match.start(), match.group(1)) for match in NAMESPACE.finditer(text)]
    for match in TYPE.finditer(text):
        around = [name for begin, name in spaces if begin < match.start()]
        yield around[-1] if around else "", match.group(1), text.count("\n", 0, match.start()) + 1


def check(root, paths):
    seen = {}
    for path in paths:
        if not path.endswith(".h") or path.startswith("tests/") or "/gloo_shim/" in path:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for space, name, line in types(text):
            other = seen.setdefault((space, name), path)
            if other != path:
                yield f"{path}:{line}: a type called {name} is also in {other}: one program may link both"
