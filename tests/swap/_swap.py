"""Runs that swap their optimizer to files on a drive: started, caught in a phase of it, and judged when something befell them.

A run is caught by its open files: /proc says which file of the drive a rank moves, and in which direction. A rank that seems to be where a
test wants it is stopped (SIGSTOP) and looked at again, so that the fault happens there and nowhere else.
"""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from _processes import descendants, name_of, ranks_of, stat_fields, wait_until
from _shardlab import PROGRAM, Place, Result, check

LIMIT = 30  # seconds from a fault to the end of the run
LONG = 400  # steps: more than any test waits for
HEADER = struct.Struct("<8sIiqq")  # engine/execute/swap/swap_header.cpp: magic, version, rank, step, bytes
MAGIC = b"shlbswap"
CRASHES = ("terminate called", "Aborted", "Segmentation", "std::", "Traceback", "defect of shardlab")

SCENARIO = """name: {name}
model:
  config: tiny-llama
  sequence_length: 16
  overrides: {{hidden_size: 192, intermediate_size: 512, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2,
              vocab_size: 4096}}
cluster: {{device: cpu, ranks: {ranks}{drive}}}
parallel: {{strategy: zero3, zero: {{sub_group_size: 600000, reduce_bucket_size: 1000000}}}}
precision: {{param: bfloat16}}
offload: {{{offload}}}
train: {{data: assets/data/licenses.txt, micro_batch: 2, clip_norm: 1.0, accumulation: {accumulation}}}
measure: {{warmup_steps: 1, steps: {steps}}}
"""


class SwapPlace(Place):
    """A place with a folder that stands for the drive; the ranks' records stay in the place, too."""

    def __init__(self):
        super().__init__()
        self.drive = self.path / "drive"
        self.drive.mkdir()

    def environment(self, **changes):
        return super().environment(**{"TMPDIR": str(self.path), **changes})

    def swapping(self, name="swap", ranks=2, steps=LONG, drive=None, offload="optimizer: nvme", accumulation=1):
        """The file of a scenario; drive: the text of cluster.nvme.path, else the place's folder."""
        where = f", nvme: {{path: {drive or self.drive}, read: 3GB/s, write: 2GB/s}}" if "nvme" in offload else ""
        return self.scenario(name, text=SCENARIO.format(name=name, ranks=ranks, steps=steps, drive=where, offload=offload,
                                                        accumulation=accumulation))


def left_on(drive):
    """What runs have left there: names of entries."""
    return sorted(path.name for path in drive.glob("shardlab-swap-*"))


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def rank_number(pid):
    """The rank that a process is, or None."""
    try:
        variables = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
    except OSError:
        return None
    return next((int(each[5:]) for each in variables if each.startswith(b"RANK=")), None)


def moved_files(pid):
    """The files of the drive that a process has open, by name: whether it writes."""
    found = {}
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return found
    for descriptor in descriptors:
        with contextlib.suppress(OSError, StopIteration):
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            if "/drive." not in target or "/shardlab-swap-" not in target:
                continue
            flags = next(line for line in open(f"/proc/{pid}/fdinfo/{descriptor}", encoding="ascii") if line.startswith("flags:"))
            found[target.rpartition("/")[2]] = int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    return found


def step_of(file):
    """The step in a file's header, or None where it has none."""
    try:
        with open(file, "rb") as stream:
            magic, _, _, step, _ = HEADER.unpack(stream.read(HEADER.size))
    except (OSError, struct.error):
        return None
    return step if magic == MAGIC else None


def replace(file, other):
    """By a copy under the same name, as cp would leave it."""
    copy = file.parent.parent / "copy"
    shutil.copyfile(other, copy)
    os.replace(copy, file)


def replace_by_rank_0s(file, run):
    """Rank 0 goes on until it misses this rank, and may be writing its file: a whole one is waited for."""
    def replaced():
        replace(file, run.folder(0) / file.name)
        return step_of(file) is not None
    check(wait_until(replaced, LIMIT), f"rank 0's {file.name} never gets whole")


class Look:
    """What a rank's folder and its open files say now."""

    def __init__(self, folder, pid):
        self.moves = moved_files(pid)
        self.folder = folder
        self._steps = None

    @property
    def steps(self):
        if self._steps is None:
            names = []
            with contextlib.suppress(OSError):
                names = [name for name in os.listdir(self.folder) if name.startswith("drive.")]
            self._steps = {name: step_of(os.path.join(self.folder, name)) for name in names}
        return self._steps

    def states_are_there(self):
        return any("exp_avg" in name for name in self.steps)


def writes_first(look):
    return bool(look.steps) and None in look.steps.values() and not look.states_are_there()


def writes_gradients(look):
    return any(writes and ".gradient." in name for name, writes in look.moves.items())


def reads(look):
    return any(not writes for writes in look.moves.values())


def reads_last(look):
    """The gradients of the first sub-group, which are read last before its update."""
    return look.moves.get("drive.gradient.p0") is False


def updates(look):
    """After that: all was read, and nothing of the sub-group was written back."""
    steps = look.steps
    return not look.moves and steps.get("drive.gradient.p0", 0) - 1 == steps.get("drive.master")


def writes_back(look):
    return any(writes and "gradient" not in name for name, writes in look.moves.items()) and look.steps.get("drive.exp_avg.1") is not None


def rests(look):
    """Between an update and the next gradients: what is touched next is read."""
    steps = set(look.steps.values())
    return not look.moves and look.states_are_there() and len(steps) == 1 and None not in steps


def is_stopped(pid):
    fields = stat_fields(pid)
    return fields is None or fields[0] in "TZ"


class Running:
    """A run under way; at the end of its block nothing of it is alive."""

    def __init__(self, place, *arguments, drive=None, prefix=()):
        self.place, self.drive = place, drive or place.drive
        self.before = set(left_on(self.drive))
        self._out, self._err = open(place.path / f"out{id(self)}", "w+"), open(place.path / f"err{id(self)}", "w+")
        self.process = subprocess.Popen([*prefix, PROGRAM, "run", *map(str, arguments)], stdout=self._out, stderr=self._err,
                                        stdin=subprocess.DEVNULL, env=place.environment(), cwd=place.path, start_new_session=True)
        self.pids = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in [self.process.pid, *descendants(self.process.pid), *self.pids.values()]:
            if pid == self.process.pid or name_of(pid) == "shardlab-rank":
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self._out.close()
        self._err.close()

    def said(self):
        return self._text(self._out), self._text(self._err)

    @staticmethod
    def _text(stream):
        stream.seek(0)
        return stream.read()

    def pid(self, rank):
        """The process of a rank, once it is there."""
        def look():
            self.pids.update({rank_number(pid): pid for pid in ranks_of(self.process.pid)})
            return rank in self.pids or self.process.poll() is not None
        if rank not in self.pids:
            wait_until(look, LIMIT)
        check(rank in self.pids, f"rank {rank} is not there: {self.said()}")
        return self.pids[rank]

    def folder(self, rank):
        """The folder of a rank on the drive, once it is there; it is waited for without a pause."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and self.process.poll() is None:
            for name in set(left_on(self.drive)) - self.before:
                if (self.drive / name / f"rank{rank}").exists():
                    return self.drive / name / f"rank{rank}"
        raise AssertionError(f"rank {rank} has no folder: {self.said()}")

    def look(self, rank):
        return Look(self.folder(rank), self.pid(rank))

    def stop(self, rank):
        pid = self.pid(rank)
        os.kill(pid, signal.SIGSTOP)
        check(wait_until(lambda: is_stopped(pid), LIMIT), f"rank {rank} cannot be stopped")

    def go_on(self, rank):
        os.kill(self.pid(rank), signal.SIGCONT)

    def catch(self, rank, *phases):
        """Stops a rank where the last of the phases holds, after it was in the others in their order; what was seen then."""
        folder, pid = self.folder(rank), self.pid(rank)
        end, wanted = time.monotonic() + LIMIT, list(phases)
        while time.monotonic() < end:
            if wanted[0](Look(folder, pid)):
                self.stop(rank)
                look = Look(folder, pid)
                if wanted[0](look):
                    wanted.pop(0)
                    if not wanted:
                        return look
                self.go_on(rank)
            check(self.process.poll() is None, f"the run ended before: {self.said()}")
            time.sleep(0.0002)
        raise AssertionError(f"rank {rank} was never seen to be where {phases[-1].__name__} holds: {self.said()}")

    def end(self, since=None):
        """The result of the run, whose seconds count from a moment."""
        begin = since or time.monotonic()
        try:
            code = self.process.wait(timeout=2 * LIMIT)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end within {2 * LIMIT} s; so far: {self.said()}") from None
        out, err = self.said()
        return Result(code, out, err, time.monotonic() - begin)


def first_line(result):
    return (result.err.splitlines() or ["nothing was said"])[0]


def check_told(running, result, *parts, code=4):
    """The run ended in time, with an error that has these parts, and left nothing on the drive; its first line."""
    check(result.code == code, f"exit code {result.code}, not {code}", result)
    check(result.seconds < LIMIT, f"the end took {result.seconds:.1f} s", result)
    check(result.err.startswith("error: "), "the message does not start with 'error: '", result)
    for part in parts:
        check(part in result.err, f"the message does not contain '{part}'", result)
    for sign in CRASHES:
        check(sign not in result.err, f"the message shows '{sign}'", result)
    check_nothing_left(running, result)
    return f"code {result.code} after {result.seconds:.1f} s: {first_line(result)}"


def check_nothing_left(running, result=None):
    left = sorted(set(left_on(running.drive)) - running.before)
    files = [f"{name}/{file}" for name in left for file in files_below(running.drive / name) or [""]]
    check(left == [], f"left on the drive: {files}", result)
    check(not any(name_of(pid) == "shardlab-rank" for pid in running.pids.values()), "a rank is alive", result)


def losses_of(result):
    check(result.code == 0, "the run failed", result)
    return json.loads(result.out)["losses"]


def has_root():
    return os.geteuid() == 0


def without_rights():
    """What starts a program that permissions hold for, or None where that cannot be done."""
    if not has_root():
        return ()
    prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    works = shutil.which(prefix[0]) and subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    return prefix if works else None


class Skipped(Exception):
    """The machine forbids what a case needs."""


@contextlib.contextmanager
def mounted(folder, *command):
    """A file system on a folder, as long as the block lasts."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *map(str, command), str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        raise Skipped(f"mounting is forbidden here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def tmpfs(folder, size, **options):
    return mounted(folder, "-t", "tmpfs", "-o", ",".join([f"size={size}", *(f"{key}={value}" for key, value in options.items())]), "tmpfs")


@contextlib.contextmanager
def small_disk(place, size):
    """An ext4 of that many bytes in a file."""
    image = place.path / "disk.img"
    image.write_bytes(b"")
    os.truncate(image, size)
    if not shutil.which("mkfs.ext4"):
        raise Skipped("mkfs.ext4 is not installed")
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True, stdout=subprocess.DEVNULL)
    with mounted(place.path / "disk", "-o", "loop", image) as folder:
        yield folder


class Cases:
    """Counts the faults that were told as they should be, and prints a line about each. By day every second one is tried."""

    def __init__(self):
        self.good, self.all, self.skipped, self.asked = 0, 0, 0, 0

    def case(self, name, work, *arguments):
        self.asked += 1
        if self.asked % 2 == 0 and not os.environ.get("SHARDLAB_NIGHTLY"):
            return
        begin = time.monotonic()
        try:
            line = work(*arguments)
        except Skipped as why:
            self.skipped += 1
            print(f"skipped {name}: {why}", flush=True)
            return
        except Exception:  # an assertion, a timeout, a missing field: all are failures of this case
            self.all += 1
            print(f"FAILED  {name}", flush=True)
            traceback.print_exc(limit=-2, file=sys.stdout)
            return
        self.all += 1
        self.good += 1
        print(f"told    {name} ({time.monotonic() - begin:.1f} s): {line}", flush=True)

    def finish(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.good} of {self.all} faults told{skipped}; {self.asked} at night")
        sys.exit(0 if self.good == self.all and self.all else 1)
