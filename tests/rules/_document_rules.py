"""Rules over documents and comments: the files, folders and programs that they name exist, and lines of prose are not too long.

check(root) returns the violations as lines "file:line: what". No dependencies beyond Python itself.
"""

import os
import re

TOPS = ("engine", "simulator", "gui", "tests", "docs", "scenarios", "assets", "cmake", "scripts")
# What a document may name although it is not in the tree.
MADE_LATER = {
    "assets/calibration": "made with the first measured GPU that is shipped",
    "assets/calibration/h100.json": "an example of such a file",
    "docs/measurements": "made by tests/gpu/run_all.sh",
    "scenarios/a.yaml": "an example of a user's file",
    "tests/plans/recorded": "a folder that is given to a script",
}

WORD = r"[\w.<>{}*,-]"
PATH = re.compile(rf"(?<![\w/.$}}<\"-])((?:{'|'.join(TOPS)})/{WORD}*(?:/{WORD}*)*)")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
# A source's name alone, in backticks: `reason.cpp`.
SOURCE_NAME = re.compile(r"`(\w[\w-]*\.(?:h|cpp|cu|py|sh))`")
# A path from the document's own folder, in backticks: `../command.h`.
RELATIVE = re.compile(r"`(\.\.?/[\w./-]+)`")
TARGET = re.compile(r"`(shardlab[-_][a-z_-]+[a-z])`")
DEFINED_TARGET = re.compile(r"\b(?:shardlab_executable|shardlab_library|add_library|add_executable|add_custom_target)\((shardlab[\w-]*)")
OPEN = set("<{*")  # stands for many names: engine/strategies/<name>
# A README's table whose first column is about files or folders: its names are of the README's folder.
TABLE_OF_FILES = re.compile(r"^\| *(?:Files?|Folder|Header) *\|")
BACKTICKED = re.compile(r"`([^`]+)`")
LONGEST_LINE = 140
GENERATED = ("docs/formats.md", "docs/glossary.md", "docs/rules.md", "docs/scenario.md")  # the program writes them
ENDINGS = ("", ".h", ".cpp", ".cu", ".py", ".sh")


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def files(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(s for s in subfolders if not s.startswith((".", "build", "__pycache__")))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def prose(path, lines):
    """(number, text) of what is written for people: documents whole, of sources the comments."""
    mark = "//" if path.endswith((".h", ".cpp", ".cu")) else "#"
    for number, line in enumerate(lines, 1):
        if path.endswith(".md"):
            yield number, line
            continue
        begin = line.find(mark)
        if begin >= 0 and "#include" not in line:
            yield number, line[begin:]


def exists(root, path):
    """A file or folder; a name without ending stands for its header and source."""
    return any(os.path.exists(os.path.join(root, path + ending)) for ending in ("", ".h", ".cpp", ".py"))


def named_paths(text):
    for match in PATH.finditer(text):
        path = match.group(1).rstrip("/.,-")
        if not OPEN & set(path):
            yield path


def check_line(root, path, text, source_names, targets):
    for named in named_paths(text):
        if named not in MADE_LATER and not exists(root, named):
            yield f"there is no {named}"
    if not path.endswith(".md"):
        return
    for link in LINK.findall(text):
        if "://" not in link and not os.path.exists(os.path.join(root, os.path.dirname(path), link)):
            yield f"the link {link} leads nowhere"
    for relative in RELATIVE.findall(text):
        if not exists(root, os.path.join(os.path.dirname(path), relative)) and not exists(root, relative):
            yield f"{relative} leads nowhere"
    for name in SOURCE_NAME.findall(text):
        if name not in source_names:
            yield f"no file is called {name}"
    for target in TARGET.findall(text):
        if target not in targets:
            yield f"nothing builds {target}"


def listed_names(lines):
    """(number, names of the first cell) of the rows of tables of files."""
    listing = False
    for number, line in enumerate(lines, 1):
        listing = line.startswith("|") and (listing or bool(TABLE_OF_FILES.match(line)))
        if listing:
            yield number, BACKTICKED.findall(line.split("|")[1])


def check_tables(root, path, lines):
    """The files that a README's tables list lie in its folder, or beside the first that the same cell names."""
    folder = os.path.join(root, os.path.dirname(path))
    for number, names in listed_names(lines):
        places = (folder, os.path.dirname(os.path.join(folder, names[0]))) if names else ()
        for name in names:
            candidates = (os.path.join(place, name + ending) for place in places for ending in ENDINGS)
            if not OPEN & set(name) and not any(map(os.path.exists, candidates)):
                yield number, f"lists {name}, which is not in this folder"


def long_lines(path, lines):
    """(number, what) of prose that is longer than the sources are: tables, headings, code and what cannot be broken aside."""
    in_code = False
    for number, line in enumerate(lines, 1):
        in_code ^= line.startswith("```")
        is_prose = not in_code and not line.startswith(("|", "    ", "#", "<!--"))
        if is_prose and len(line) > LONGEST_LINE and " " in line.strip() and path not in GENERATED:
            yield number, f"a line of {len(line)} characters, {LONGEST_LINE} at most"


def defined_targets(root, paths):
    targets = set()
    for path in paths:
        if path.endswith(("CMakeLists.txt", ".cmake")):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                targets.update(DEFINED_TARGET.findall(file.read()))
    return targets


def check(root):
    paths = list(files(root))
    source_names = {os.path.basename(path) for path in paths}
    targets = defined_targets(root, paths)
    problems = []
    for path in paths:
        if not path.endswith((".md", ".h", ".cpp", ".cu", ".py", ".sh", ".cmake", "CMakeLists.txt")):
            continue
        if inside(path, "tests/data") or inside(path, "tests/rules"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for number, text in prose(path, lines):
            problems += [f"{path}:{number}: {what}" for what in check_line(root, path, text, source_names, targets)]
        if path.endswith(".md"):
            problems += [f"{path}:{number}: {what}" for number, what in long_lines(path, lines)]
        if os.path.basename(path) == "README.md":
            problems += [f"{path}:{number}: {what}" for number, what in check_tables(root, path, lines)]
    return problems
