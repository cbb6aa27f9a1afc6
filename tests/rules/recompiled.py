"""How many sources of the program are compiled again when a section of a scenario gets one more key: those that include its header, however
indirectly. Tests are counted apart: they are built where they are run."""

import os
import re
import sys
import tempfile

MOST = 60  # sources of the program that one more key of a section may compile again
INCLUDE = re.compile(r'^\s*#\s*include "((?:engine|simulator|gui|tests)/[^"]+)"', re.MULTILINE)
SECTION = re.compile(r"^engine/scenario/\w+_spec\.h$")


def includes_of(root):
    """{file: the project's files that it includes}, of the whole tree."""
    found = {}
    for top in ("engine", "simulator", "gui", "tests"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".h", ".cpp")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        found[os.path.relpath(path, root)] = INCLUDE.findall(file.read())
    return found


def reached(start, includes):
    seen, open_files = set(), [start]
    while open_files:
        file = open_files.pop()
        if file not in seen:
            seen.add(file)
            open_files.extend(includes.get(file, []))
    return seen


def counts(root):
    """{header of a section: (sources of the program, tests) that depend on it}"""
    includes = includes_of(root)
    result = {header: [0, 0] for header in includes if SECTION.match(header)}
    for source in includes:
        if source.endswith(".cpp"):
            for header in reached(source, includes) & set(result):
                result[header][source.startswith("tests/")] += 1
    return result


def too_many(sections):
    return [header for header, (product, _) in sections.items() if product > MOST]


def made_up(sources, tests):
    """What is counted in a tree with so many, where everybody includes the section through another header."""
    with tempfile.TemporaryDirectory() as root:
        files = {"engine/scenario/train_spec.h": "", "engine/scenario/a.h": '#include "engine/scenario/train_spec.h"\n'}
        files.update({f"engine/plan/s{i}.cpp": '#include "engine/scenario/a.h"\n' for i in range(sources)})
        files.update({f"tests/plans/t{i}.cpp": '#include "engine/scenario/a.h"\n' for i in range(tests)})
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return counts(root)


wrong = 0
for sources, tests, refused in ((3, 70, False), (MOST, 0, False), (MOST + 1, 0, True)):
    found = made_up(sources, tests)
    wrong += found != {"engine/scenario/train_spec.h": [sources, tests]} or bool(too_many(found)) != refused
root = os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sections = counts(root)
for header, (product, tests) in sorted(sections.items(), key=lambda row: -row[1][0]):
    print(f"{product:4d} sources and {tests:3d} tests include {header}" + (f": more than {MOST}" if product > MOST else ""))
print(f"3 trees tried, {wrong} judged wrongly; {len(sections)} sections, {len(too_many(sections))} with too many")
sys.exit(1 if wrong or not sections or too_many(sections) else 0)
