"""What git keeps at the top of the tree is what belongs there: programs and tests leave files behind, and `git add -A` takes them along."""
# processors: 1
import os
import subprocess
import sys

BELONGS = {".ci", ".clang-format", ".clang-tidy", ".dockerignore", ".editorconfig", ".gitignore", "CMakeLists.txt", "CMakePresets.json",
           "Dockerfile", "LICENSE", "README.md", "assets", "cmake", "docs", "engine", "gui", "pyproject.toml", "run.sh", "scenarios", "scripts",
           "shardlab.def", "simulator", "test.sh", "tests"}


def strangers(paths):
    return sorted({path.split("/")[0] for path in paths} - BELONGS)


assert strangers(["engine/a.cpp", "mutated/a.yaml", "tiny.train.py", "README.md"]) == ["mutated", "tiny.train.py"]
listed = subprocess.run(["git", "-C", os.environ["SHARDLAB_SOURCE"], "ls-files"], capture_output=True, text=True)
if listed.returncode != 0:
    print("skipped: no git tree")
    sys.exit(77)
found = strangers(listed.stdout.splitlines())
print(f"{len(BELONGS)} names at the top, {len(found)} that do not belong there: {found}")
sys.exit(1 if found else 0)
