"""What is compiled together (SHARDLAB_UNITY) can be: _unity_rules.py, which is broken here first."""

import os
import sys
import tempfile

import _unity_rules

ONE = "namespace shardlab {\nnamespace {\n\n%s\n}  // namespace\n}  // namespace shardlab\n"
COUNT = "int count(int n) {\n  return n;\n}\n"
# (the name that meets itself, files)
BROKEN = [
    ("count", {"engine/plan/a.cpp": ONE % COUNT, "engine/plan/b.cpp": ONE % COUNT}),
    ("Row", {"engine/plan/a.cpp": ONE % "struct Row {\n  int x;\n};\n", "engine/plan/b.cpp": ONE % "class Row {};\n"}),
    ("k_most", {"gui/app/a.cpp": ONE % "constexpr int k_most = 2;\n", "gui/app/b.cpp": ONE % "constexpr long k_most = 3;\n"}),
    ("k_b", {"gui/app/a.cpp": ONE % "constexpr int k_a = f(1, 2), k_b = 3;\n", "gui/app/b.cpp": ONE % "constexpr int k_c = 2, k_b = 1;\n"}),
    ("count", {"engine/plan/a.cpp": ONE % "int count(const Text& n) {\n  return n;\n}\n",
               "engine/plan/b.cpp": ONE % "int count(Text n) {\n  return n;\n}\n"}),
    ("k_words", {"engine/plan/a.cpp": ONE % "constexpr int k_words = 3;\n"}),
    ("Json", {"engine/plan/a.cpp": ONE % "using Json = A;\n", "engine/plan/b.cpp": ONE % "using Json = B;\n"}),
    ("count", {"engine/plan/a.cpp": ONE % COUNT, "engine/plan/b.cpp": ONE % "constexpr int count = 3;\n"}),
    ("count", {"engine/CMakeLists.txt": "shardlab_library(x FOLDERS plan TOGETHER plan/rules)",
               "engine/plan/rules/x/a.cpp": ONE % COUNT, "engine/plan/rules/y/b.cpp": ONE % COUNT}),
]
CLEAN = [
    {"engine/plan/a.cpp": ONE % COUNT, "engine/plan/b.cpp": ONE % "int count(double n) {\n  return 1;\n}\n"},
    {"engine/plan/a.cpp": ONE % COUNT, "engine/trace/b.cpp": ONE % COUNT},
    {"engine/plan/a.cpp": ONE % "using Json = A;\n", "engine/plan/b.cpp": ONE % "using Json = A;\n"},
    {"engine/execute/torch/operators/a.cpp": ONE % COUNT, "engine/execute/torch/operators/b.cpp": ONE % COUNT},
    {"engine/plan/a.cpp": ONE % COUNT, "engine/plan/b.cpp": "int main() {\n  int count = 1; return count;\n}\n"},
]


def problems_of(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return list(_unity_rules.check(root))


failures = [f"a clean tree: {problem}" for files in CLEAN for problem in problems_of(files)]
for name, files in BROKEN:
    found = problems_of(files)
    if len(found) != 1 or f"'{name}'" not in found[0]:
        failures.append(f"should find '{name}' once: {found}")

root = os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
groups = _unity_rules.groups(root)
problems = list(_unity_rules.check(root))
for problem in failures + problems:
    print(problem)
print(f"{len(BROKEN)} violations tried, {len(failures)} failures; {len(problems)} in {len(groups)} folders of this tree")
sys.exit(1 if problems or failures or not groups else 0)
