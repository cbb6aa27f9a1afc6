"""What the tests of installations share: programs run where some folders of this machine cannot be seen."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from _shardlab import SKIP, SOURCE, Place, Result  # noqa: E402

BUILD = pathlib.Path(os.environ["SHARDLAB_BUILD"])
SCENARIO = "share/shardlab/scenarios/first/tiny-llama.yaml"


def torch_folder():
    """The torch that this build links, from its cache; None when it links none."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("SHARDLAB_TORCH_DIR:"):
            folder = pathlib.Path(line.split("=", 1)[1])
            return folder if (folder / "lib/libtorch_cpu.so").exists() else None
    return None


def needs_namespaces():
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                                                     capture_output=True).returncode != 0:
        print("skipped: mounting needs root")
        sys.exit(SKIP)


def run_hidden(program, *arguments, hidden=(SOURCE,), moved=None, **variables):
    """Runs a program where each folder of `hidden` is empty. moved: (folder, place) makes the folder visible at the place."""
    place = Place()
    steps = ["mount --make-rprivate /"]
    if moved:
        steps.append(shlex.join(["mount", "--bind", str(moved[0]), str(moved[1])]))
    steps += [shlex.join(["mount", "-t", "tmpfs", "tmpfs", str(folder)]) for folder in hidden]
    steps.append("exec " + shlex.join([str(program), *map(str, arguments)]))
    environment = place.environment(**variables)
    for name in ("SHARDLAB_ASSETS", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    done = subprocess.run(["unshare", "-m", "sh", "-ec", "\n".join(steps)], capture_output=True, text=True, timeout=300,
                          cwd=place.path, env=environment, stdin=subprocess.DEVNULL)
    return Result(done.returncode, done.stdout, done.stderr, 0)


def make(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout
