"""Sources that cmake/Unity.cmake may compile together define no name twice in their unnamed namespaces.

Functions may share a name where their parameters differ. Seen are definitions that begin in the first column of a
`namespace {` block, which clang-format closes with a comment.
"""

import os
import re

ROOTS = ("engine", "simulator", "gui")
APART = ("engine/execute/torch/kernels/", "engine/execute/torch/operators/")  # compiled one by one (cmake/TorchExecutor.cmake)
TOGETHER = re.compile(r"\bTOGETHER ([\w/]+)")

BLOCK = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.DOTALL | re.MULTILINE)
STATEMENT = re.compile(r"^(?=[^\s{}#)/:])(.*?)(?=^[^\s{}):]|\Z)", re.DOTALL | re.MULTILINE)
ALIAS = re.compile(r"(?:using\s+(\w+)\s*=|namespace\s+(\w+)\s*=)")
TYPE = re.compile(r"(?:struct|class|enum class|union|concept)\s+(\w+)")
FUNCTION = re.compile(
    r"(?![{}#/ )]|using\b|return\b|static_assert)[^=;{}\"]*?[\s*&>](\w+)\s*\(([^{;]*?)\)\s*(?:const|noexcept|->[^{;]*)?\s*[{;]", re.DOTALL)
VALUE = re.compile(r"(?:constexpr|const|static|inline)\b[^=;{(]*?\b(\w+)(?:\[[^\]]*\])*\s*[={;]")
# Names in the project's namespace that every source can see: one in an unnamed namespace hides them from its neighbours.
OUTER = {"k_words"}
LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\])*"|//[^\n]*', re.DOTALL)


def further_names(declarators):
    """Names of the declarators behind the first one: "b" of "1, b = 2"."""
    depth, name = 0, ""
    for at, letter in enumerate(declarators):
        depth += letter in "({[<"
        depth -= letter in ")}]>"
        if letter == "," and depth == 0:
            name = re.match(r"\s*(\w+)\s*[={]", declarators[at + 1:])
            if name:
                yield name.group(1)


def parameter_type(parameter):
    """A value and a reference to a constant take the same arguments."""
    kind = re.sub(r"\s*\b\w+\s*(=.*)?$", "", parameter.strip())
    return re.sub(r"^const (.*)&$", r"\1", kind)


def definitions_of(statement):
    """(name, what it is) of what a statement at the top of a block defines."""
    first = definition(statement)
    if first:
        yield first
        if first[1] == "a value":
            match = VALUE.match(statement)
            for name in further_names(statement[match.end() - 1:].split(";")[0]):
                yield name, "a value"


def definition(statement):
    """(name, what it is) of the first definition of a statement, or None."""
    if statement.startswith("template"):
        return None
    alias = ALIAS.match(statement)
    if alias:
        return alias.group(1) or alias.group(2), " ".join(statement.split())
    kind = TYPE.match(statement)
    if kind:
        return kind.group(1), "a type"
    function = FUNCTION.match(statement)
    if function:
        parameters = [parameter_type(each) for each in function.group(2).split(",")]
        return function.group(1), f"({', '.join(parameters)})"
    value = VALUE.match(statement)
    return (value.group(1), "a value") if value else None


def definitions(text):
    for block in BLOCK.findall(text):
        for statement in STATEMENT.findall(LITERAL.sub('""', block)):
            yield from definitions_of(statement)


def clash(kinds):
    """Whether definitions of one name, {what it is: files}, cannot stand in one namespace."""
    functions = [kind for kind in kinds if kind.startswith("(")]
    others = [kind for kind in kinds if not kind.startswith("(")]
    twice = any(len(files) > 1 for kind, files in kinds.items() if kind.startswith("(") or kind.startswith("a "))
    return twice or len(others) > 1 or bool(others and functions)


def groups(root):
    """{folder: its sources}, with what lies below a TOGETHER folder in that."""
    together = []
    for top in ROOTS:
        lists = os.path.join(root, top, "CMakeLists.txt")
        if os.path.exists(lists):
            with open(lists, encoding="utf-8") as file:
                together += [f"{top}/{folder}" for folder in TOGETHER.findall(file.read())]
    found = {}
    for top in ROOTS:
        for folder, below, names in os.walk(os.path.join(root, top)):
            below.sort()
            folder = os.path.relpath(folder, root)
            if (folder + "/").startswith(APART):
                continue
            group = next((outer for outer in together if (folder + "/").startswith(outer + "/")), folder)
            found.setdefault(group, []).extend(f"{folder}/{name}" for name in sorted(names) if name.endswith(".cpp"))
    return found


def check(root):
    """Violations as lines "file:line: what"."""
    for sources in groups(root).values():
        names = {}
        for path in sources:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                for name, kind in set(definitions(file.read())):
                    names.setdefault(name, {}).setdefault(kind, []).append(path)
        for name, kinds in sorted(names.items()):
            if name in OUTER:
                yield f"{sorted(kinds.values())[0][0]}:1: '{name}' is the name of something in an included header"
            if clash(kinds):
                files = sorted({path for each in kinds.values() for path in each})
                yield f"{files[-1]}:1: '{name}' stands in an unnamed namespace of {', '.join(files[:-1])} as well"
