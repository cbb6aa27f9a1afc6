"""Folders are of a size, and the larger ones say what they hold: _room_rules.py, which is broken here first."""

import os
import sys
import tempfile

import _room_rules

SEVEN = {f"engine/plan/{name}.h": "" for name in "abcdefg"}
README = {"engine/plan/README.md": "Open `a.h` first.\n"}
# (what the report must say, files)
BROKEN = [
    ("no README.md", SEVEN),
    ("names no file of its folder", {**SEVEN, "engine/plan/README.md": "Plans.\n"}),
    ("files lie in one folder", {**README, **{f"engine/plan/a{i}.h": "" for i in range(61)}, "engine/plan/a.h": ""}),
]
CLEAN = [
    {**SEVEN, **README},
    {f"engine/plan/{name}.h": "" for name in "abcde"},
    {f"tests/unit/plan/{name}_test.cpp": "" for name in "abcdefg"},
]


def problems_of(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return list(_room_rules.check(root))


failures = [f"a clean tree: {problem}" for files in CLEAN for problem in problems_of(files)]
for expected, files in BROKEN:
    found = problems_of(files)
    if len(found) != 1 or expected not in found[0]:
        failures.append(f"should say '{expected}' once: {found}")

root = os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
problems = list(_room_rules.check(root))
for problem in failures + problems:
    print(problem)
print(f"{len(BROKEN)} violations tried, {len(failures)} failures; {len(problems)} in this tree")
sys.exit(1 if problems or failures else 0)
