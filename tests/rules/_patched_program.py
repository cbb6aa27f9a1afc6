"""shardlab with a patch applied, built in seconds: what the patch touches is compiled anew and linked before the libraries of an
existing build, whose members of the same names are then not taken.

That is sound as long as every header of the patch is included by source files alone and each new object defines all that the member
it replaces defines; sources_to_compile() refuses the first, the linker the second (a symbol defined twice). Sources that the build
compiles together are compiled together here as well.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import _compiled_units

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def touched(patch):
    """Paths of the files that a patch changes or makes."""
    return re.findall(r"^\+\+\+ b/(\S+)$", patch.read_text(), re.MULTILINE)


def patched_tree(source, patch, folder):
    """A copy of the sources with the patch applied; raises when it does not apply."""
    for top in ("engine", "simulator", "cmake", "tests/rules"):
        shutil.copytree(source / top, folder / top, dirs_exist_ok=True)
    done = subprocess.run(["git", "apply", "--verbose", str(patch)], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)})
    if done.returncode != 0:
        raise SystemExit(f"{patch.name} no longer applies: renew it\n{done.stderr}")


def sources_to_compile(tree, changed):
    """The changed sources and those that include a changed header."""
    headers = {path for path in changed if path.endswith(".h")}
    compiled = {path for path in changed if path.endswith(".cpp")}
    for file in (tree / "engine").rglob("*"):
        if file.suffix not in (".h", ".cpp"):
            continue
        path = str(file.relative_to(tree))
        if headers & set(INCLUDE.findall(file.read_text())):
            if file.suffix == ".h" and path not in changed:
                raise SystemExit(f"{path} includes a header of the patch: that is no change of a few files")
            compiled.add(path)
    return sorted(path for path in compiled if path.endswith(".cpp"))


def compile_command(unit, source, tree, file, target):
    """The unit's own command for another file, on the patched tree."""
    words, kept = shlex.split(unit.command), []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-include", "-Xclang"):  # the precompiled header goes: it is of the other tree
            skip = True
        elif word == "-I" + str(source):
            kept.append("-I" + str(tree))
        elif word != "-Winvalid-pch":
            kept.append(word)
    return kept + ["-I" + str(tree), "-c", str(file), "-o", str(target)]


def compiled(source, build, tree, paths, folder):
    """The objects of the units that hold the paths, two of them compiled at a time."""
    known, objects, running = _compiled_units.units_by_source(build, source), [], []
    waiting = _compiled_units.patched_sources(known, paths)
    for path, unit, members in waiting:
        if unit is None:  # the first file of a new folder: as any other of the same layer
            layer = "/".join(path.split("/")[:2]) + "/"
            unit = next(known[other] for other in sorted(known) if other.startswith(layer))
        name = path.replace("/", "_")
        file = _compiled_units.write_unit(members, tree, source, pathlib.Path(folder) / (name + ".unit.cxx"))
        target = pathlib.Path(folder) / (name + ".o")
        running.append((path, subprocess.Popen(compile_command(unit, source, tree, file, target), cwd=unit.directory,
                                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
        objects.append(str(target))
        if len(running) == 2 or path == waiting[-1][0]:
            for name, process in running:
                output, _ = process.communicate()
                if process.returncode != 0:
                    raise SystemExit(f"{name} does not compile:\n{output}")
            running = []
    return objects


def build_patched(source, build, patch, folder):
    """The path of the program, with everything below `folder`."""
    tree = pathlib.Path(folder) / "tree"
    patched_tree(source, patch, tree)
    objects = compiled(source, build, tree, sources_to_compile(tree, touched(patch)), folder)
    program = pathlib.Path(folder) / "shardlab"
    link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "shardlab"], capture_output=True, text=True, check=True)
    words = shlex.split(link.stdout.strip().splitlines()[-1])
    words = [word for word in words if word not in (":", "&&")]
    words[words.index("-o") + 1] = str(program)
    first = next(i for i, word in enumerate(words) if word.endswith(".a"))
    done = subprocess.run(words[:first] + objects + words[first:], cwd=build, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the patched program does not link:\n{done.stderr}")
    return program, tree
