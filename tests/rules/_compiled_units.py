"""What an existing build compiles together (cmake/Unity.cmake), and a unit of it anew with some of its sources replaced.

The object of a unit holds all its sources: whoever replaces one of them in a link has to bring the others as well.
"""

import json
import pathlib
import re
from typing import NamedTuple

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


class Unit(NamedTuple):
    command: str      # as compile_commands.json has it
    directory: str    # where it is to run
    members: tuple    # paths of its sources, relative to the top of the tree


def units_by_source(build, source):
    """{path relative to the top: its unit} of every source of the tree that the build compiles."""
    source, known = pathlib.Path(source).resolve(), {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        files = [file]
        if file.suffix == ".cxx" and file.is_relative_to(pathlib.Path(build).resolve()):
            files = [pathlib.Path(name).resolve() for name in INCLUDE.findall(file.read_text())]
        members = tuple(str(one.relative_to(source)) for one in files if one.is_relative_to(source))
        known.update((path, Unit(entry["command"], entry["directory"], members)) for path in members)
    return known


def neighbour(known, path):
    """The unit of the path or, for a file that the build does not know, one of its folder; None where there is no such."""
    folder = pathlib.PurePath(path).parent
    beside = (known[other] for other in sorted(known) if pathlib.PurePath(other).parent == folder)
    return known.get(path) or next(beside, None)


def patched_sources(known, paths):
    """What has to be compiled for the paths: [(the first of them, its unit, the sources to compile together)], each unit once."""
    groups = {}
    for path in paths:
        members = known[path].members if path in known else (path,)
        groups.setdefault(members, (path, neighbour(known, path), members))
    return list(groups.values())


def write_unit(members, tree, source, target):
    """The file that compiles the members, those from the patched tree that it holds: a member itself where it is the only one."""
    files = [pathlib.Path(tree, path) if pathlib.Path(tree, path).exists() else pathlib.Path(source, path) for path in members]
    if len(files) == 1:
        return files[0]
    target.write_text("".join(f'#include "{file}"\n' for file in files))
    return target
