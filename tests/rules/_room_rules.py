"""Rooms: how large a folder may grow, and which must say what it holds."""

import os

ROOTS = ("engine", "simulator", "gui", "tests")
# Folders of data and of tests that mirror the code: what they hold is said once, in tests/README.md and tests/fuzz/README.md.
MIRRORS = ("tests/data", "tests/fuzz/corpus", "tests/unit")
MOST_FILES = 60
FILES_WITHOUT_README = 5


def rooms(root):
    """(folder, names of its files) of every folder of sources."""
    for top in ROOTS:
        for folder, below, files in os.walk(os.path.join(root, top)):
            below[:] = sorted(name for name in below if name != "__pycache__")
            path = os.path.relpath(folder, root).replace(os.sep, "/")
            if not any(path == mirror or path.startswith(mirror + "/") for mirror in MIRRORS):
                yield path, sorted(name for name in files if not name.endswith(".pyc"))


def check(root):
    """Violations, each as path:line: what is wrong."""
    for folder, files in rooms(root):
        if len(files) > MOST_FILES:
            yield f"{folder}:1: {len(files)} files lie in one folder, {MOST_FILES} may: part it by what the files are about"
        sources = [name for name in files if name not in ("README.md", "CMakeLists.txt")]
        if len(sources) <= FILES_WITHOUT_README:
            continue
        if "README.md" not in files:
            yield f"{folder}:1: {len(sources)} files and no README.md that says what they are and which to open first"
            continue
        with open(os.path.join(root, folder, "README.md"), encoding="utf-8") as file:
            text = file.read()
        if not any(f"{name}`" in text or name.rsplit(".", 1)[0] + ".h" in text for name in sources):
            yield f"{folder}/README.md:1: names no file of its folder: say which to open first"
