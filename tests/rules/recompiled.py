"""How many sources are compiled again when a section of a scenario gets one more key: those that include its header, however indirectly."""

import os
import re
import sys
import tempfile

MOST = 1 / 12  # of all sources: what one more key of a section may compile again
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
    """{header of a section: how many sources depend on it}"""
    includes = includes_of(root)
    result = {header: 0 for header in includes if SECTION.match(header)}
    for source in includes:
        if source.endswith(".cpp"):
            for header in reached(source, includes) & set(result):
                result[header] += 1
    return result


def made_up(sources):
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "engine/scenario"))
        files = {"engine/scenario/train_spec.h": "", "engine/scenario/a.h": '#include "engine/scenario/train_spec.h"\n'}
        files.update({f"engine/scenario/s{i}.cpp": '#include "engine/scenario/a.h"\n' for i in range(sources)})
        for path, text in files.items():
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return counts(root)["engine/scenario/train_spec.h"]


root = os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
wrong = [n for n in (3, 61) if made_up(n) != n]
sections = counts(root)
most = int(sum(source.endswith(".cpp") for source in includes_of(root)) * MOST)
for header, count in sorted(sections.items(), key=lambda row: -row[1]):
    print(f"{count:4d} sources include {header}" + (f": more than {most}" if count > most else ""))
print(f"2 trees tried, {len(wrong)} counted wrongly; {len(sections)} sections")
sys.exit(1 if wrong or not sections or max(sections.values()) > most else 0)
