"""Documents and comments name files, folders and programs that exist, in lines of bearable length; _document_rules.py says which."""

import os
import sys
import tempfile

import _document_rules

# (what the report must say, the file that breaks the rule, its text)
BROKEN = [
    ("no engine/plan/gone.h", "docs/a.md", "see `engine/plan/gone.h`\n"),
    ("no engine/plan/gone.h", "engine/plan/b.h", "// The reason is in engine/plan/gone.h.\n"),
    ("no tests/gone", "scripts/c.sh", "# run tests/gone first\n"),
    ("the link gone.md leads nowhere", "docs/d.md", "[words](gone.md#part)\n"),
    ("no file is called gone.cpp", "docs/e.md", "`gone.cpp` adds buckets\n"),
    ("../gone.h leads nowhere", "docs/g.md", "`../gone.h` says what it is\n"),
    ("lists gone, which is not", "engine/plan/README.md", "| File | What |\n| --- | --- |\n| `plan`, `gone` | a plan |\n"),
    ("a line of 150 characters", "docs/h.md", "word " * 29 + "words\n"),
    ("nothing builds shardlab-gone", "docs/f.md", "only `shardlab-gone` links it\n"),
]
CLEAN = {
    "docs/here.md": "[itself](here.md#part), `engine/plan/plan.h`, engine/plan/plan, `plan.h`, `../engine/plan/plan.h`, `shardlab-rank`,\n"
                    "engine/strategies/<name>, engine/*/x.h, https://example.org/docs/x, \"engine/plan/in_quotes.h\"\n",
    "engine/plan/README.md": "| File | What |\n| --- | --- |\n| `plan`, `plan.h`, `<name>.h` | a plan |\n\n| Key | What |\n| --- | --- |\n| `gone` | x |\n",
    "scenarios/README.md": "| Folder | What |\n| --- | --- |\n| `first/a.yaml`, `b.yaml` | beside it |\n",
    "scenarios/first/a.yaml": "",
    "scenarios/first/b.yaml": "",
    "engine/plan/plan.h": '#include "engine/plan/gone.h"\nconst char* text = "tests/gone";\n',
    "engine/CMakeLists.txt": "shardlab_executable(shardlab-rank MAIN x)\n",
}


def problems_of(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return _document_rules.check(root)


failures = [f"a clean tree: {problem}" for problem in problems_of(CLEAN)]
for expected, path, text in BROKEN:
    found = problems_of({**CLEAN, path: text})
    if len(found) != 1 or not found[0].startswith(path + ":") or expected not in found[0]:
        failures.append(f"{path} should say '{expected}': {found}")

root = os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
problems = _document_rules.check(root)
for problem in failures + problems:
    print(problem)
print(f"{len(BROKEN)} violations tried, {len(failures)} failures; {len(problems)} in this tree")
sys.exit(1 if problems or failures else 0)
