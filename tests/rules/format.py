"""Every source is as .clang-format writes it. Needs clang-format 14: other versions break lines elsewhere."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("SHARDLAB_SOURCE") or pathlib.Path(__file__).parents[2])
BADLY_FORMATTED = "int  main( ){return 0 ;}\n"


def formatter():
    """The one beside the interpreter of the tests' packages (scripts/requirements-peers.txt), or the system's of that version."""
    beside = pathlib.Path(os.environ.get("SHARDLAB_TRANSFORMERS") or "/nowhere").parent / "clang-format"
    for program in (str(beside), shutil.which("clang-format-14"), shutil.which("clang-format")):
        if program and os.path.exists(program):
            version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if "version 14." in version:
                return program
    return None


def sources():
    tops = [ROOT / top for top in ("engine", "simulator", "gui", "tests")]
    return sorted(str(path) for top in tops for path in top.rglob("*") if path.suffix in (".h", ".cpp", ".cu", ".cuh"))


def complaints(program, files):
    """The first line of each complaint."""
    done = subprocess.run([program, "--dry-run", "--Werror", f"--style=file:{ROOT / '.clang-format'}", *files],
                          capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "error:" in line]


program = formatter()
if program is None:
    print("skipped: there is no clang-format 14")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    bad = pathlib.Path(folder) / "bad.cpp"
    bad.write_text(BADLY_FORMATTED)
    if not complaints(program, [str(bad)]):
        sys.exit("a badly formatted file is not found")
files = sources()
found = complaints(program, files)
for line in found[:50]:
    print(line)
print(f"{len(files)} files, {len(found)} complaints; `clang-format -i FILE` mends one")
sys.exit(1 if found or not files else 0)
