"""An operator is a description, an implementation, a line in the list and a test: made_up_operator.patch adds one to a copy.

The copy holds the folders that the patch touches and comes before the sources in the search for headers. Its new files and
the registries are compiled as their neighbours were and linked with the libraries of this build; the new test must pass.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import _compiled_units

SOURCE, BUILD = os.path.realpath(os.environ["SHARDLAB_SOURCE"]), os.path.realpath(os.environ["SHARDLAB_BUILD"])
PATCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "made_up_operator.patch")
MOST_FILES = 4
PROGRAM = "shardlab_test_torch"
# The only objects of the libraries that know the list; what is compiled here takes their place.
REGISTRIES = ["engine/model/operators/registry.cpp", "engine/execute/torch/operators/registry.cpp",
              "engine/execute/torch/operators/aten/device_registry.cpp"]
# What operators' tests share; compiled in this build already.
SHARED_OBJECTS = re.compile(r"/unit/execute/torch/(operators/single_operator|host_places)\.cpp\.o$")


def stop(what):
    print(what)
    sys.exit(1)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        stop(f"{shlex.join(command)}\n{done.stdout}\nfailed")
    return done.stdout


def patched_files():
    with open(PATCH, encoding="utf-8") as file:
        files = re.findall(r"^\+\+\+ b/(\S+)", file.read(), flags=re.M)
    if not 0 < len(files) <= MOST_FILES:
        stop(f"the patch touches {len(files)} files, {MOST_FILES} at most: {files}")
    return files


def copy_and_patch(copy, files):
    shutil.rmtree(copy, ignore_errors=True)
    for folder in sorted({os.path.dirname(file) for file in files + REGISTRIES}):
        for name in os.listdir(os.path.join(SOURCE, folder)):
            if os.path.isfile(os.path.join(SOURCE, folder, name)):
                os.makedirs(os.path.join(copy, folder), exist_ok=True)
                shutil.copy2(os.path.join(SOURCE, folder, name), os.path.join(copy, folder, name))
    run(["patch", "--batch", "--forward", "--fuzz=0", "-p1", "-i", PATCH], copy)


def compile_into(copy, path, unit, members):
    if unit is None:
        stop(f"nothing beside {path} is part of {BUILD}")
    command = shlex.split(unit.command)
    target = os.path.join(copy, path + ".o")
    file = _compiled_units.write_unit(members, copy, SOURCE, pathlib.Path(copy, path + ".unit.cxx"))
    for flag, value in (("-o", target), ("-c", str(file)), ("-MF", target + ".d"), ("-MT", target)):
        if flag in command:
            command[command.index(flag) + 1] = value
    first = next(i for i, word in enumerate(command) if word.startswith("-I"))
    command.insert(first, f"-I{copy}")  # before the sources
    run(command, unit.directory)
    return target


def link(copy, objects):
    lines = run(["ninja", "-t", "commands", PROGRAM], BUILD).splitlines()
    line = next(line for line in reversed(lines) if re.search(rf"-o \S*{PROGRAM}(\s|$)", line))
    words = shlex.split(line.split(" && ")[1] if line.startswith(": && ") else line)
    program = os.path.join(copy, "made_up_operator")
    words[words.index("-o") + 1] = program
    kept = [word for word in words if not word.endswith(".o") or SHARED_OBJECTS.search(word)]
    first = next(i for i, word in enumerate(kept) if word.endswith(".o"))
    kept[first:first] = objects
    run(kept, BUILD)
    return program


known = _compiled_units.units_by_source(BUILD, SOURCE)
if REGISTRIES[1] not in known:
    print("this build has no libtorch")
    sys.exit(77)
files = patched_files()
copy = os.path.join(BUILD, "made_up_operator")
copy_and_patch(copy, files)
sources = REGISTRIES + [file for file in files if file.endswith(".cpp")]
program = link(copy, [compile_into(copy, *group) for group in _compiled_units.patched_sources(known, sources)])
print(run([program], copy))
print(f"{len(files)} files make an operator: {' '.join(files)}")
shutil.rmtree(copy)
