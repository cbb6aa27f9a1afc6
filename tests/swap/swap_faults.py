"""Swapping the optimizer to a drive when something befalls it: kills in every phase, a full drive, files gone, damaged or another's.

Every case ends with an error that names rank, instruction and file within 30 s, and nothing is left on the drive.
"""
# processors: 2

import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import _swap
from _processes import name_of, wait_until
from _shardlab import PROGRAM, check, needs_torch
from _swap import (LIMIT, Cases, Running, Skipped, SwapPlace, check_nothing_left, check_told, files_below, first_line, left_on,
                   losses_of, replace, replace_by_rank_0s, small_disk, step_of, tmpfs, without_rights)

needs_torch()

PIPELINED = "optimizer: nvme, pipeline_read: true, pipeline_write: true, buffers: 12"
# What a rank does when it is killed: the phases in which it is seen, in their order.
PHASES = {
    "making setup's first writes": (_swap.writes_first,),
    "writing gradients": (_swap.writes_gradients,),
    "reading": (_swap.reads,),
    "updating": (_swap.reads_last, _swap.updates),
    "writing back": (_swap.writes_back,),
}


@functools.cache
def usual_losses(steps):
    """The losses of a run to which nothing happens."""
    place = SwapPlace()
    return losses_of(place.run("run", place.swapping(steps=steps), "--json"))


def check_works_again(place, scenario):
    """The same scenario, some steps of it, in the same place."""
    losses = losses_of(place.run("run", scenario, "--set", "measure.steps=2", "--json"))
    check(losses == usual_losses(2), f"other losses after a fault: {losses}, not {usual_losses(2)}")
    check(left_on(place.drive) == [], f"a good run leaves {left_on(place.drive)}")


# Kills.


def kill_told(place, scenario, running, rank):
    begin = time.monotonic()
    os.kill(running.pid(rank), signal.SIGKILL)
    line = check_told(running, running.end(begin), f"rank {rank} ended", "killed by signal 9")
    check_works_again(place, scenario)
    return line


def killed_in(phase, rank, offload="optimizer: nvme"):
    place = SwapPlace()
    scenario = place.swapping(offload=offload)
    with Running(place, scenario) as running:
        running.catch(rank, *PHASES[phase])
        return kill_told(place, scenario, running, rank)


def killed_at_the_end(rank, steps=3):
    """After the last step, while the weights are saved."""
    place = SwapPlace()
    scenario = place.swapping(steps=steps - 1)
    with Running(place, scenario, "--save-weights", place.path / "w.safetensors") as running:
        running.catch(rank, lambda look: _swap.reads(look) and set(look.steps.values()) == {steps - 1})
        return kill_told(place, scenario, running, rank)


def killed_at_random(rank, seconds):
    place = SwapPlace()
    scenario = place.swapping()
    with Running(place, scenario) as running:
        pid = running.pid(rank)
        running.folder(rank)
        time.sleep(seconds)
        check(name_of(pid) == "shardlab-rank", f"the run was over: {running.said()}")
        return kill_told(place, scenario, running, rank)


def killed_before_the_meeting():
    """Rank 1 waits for a rank 0 that is gone; the launcher has to end it in time, too."""
    place = SwapPlace()
    scenario = place.swapping()
    with Running(place, scenario) as running:
        return kill_told(place, scenario, running, 0)


def test_killed_ranks(cases):
    cases.case("rank 0 killed before the ranks meet", killed_before_the_meeting)
    for rank in (0, 1):
        for phase in PHASES:
            cases.case(f"rank {rank} killed while {phase}", killed_in, phase, rank)
        for phase in ("reading", "writing back"):
            cases.case(f"rank {rank} killed while {phase}, pipelined", killed_in, phase, rank, PIPELINED)
        cases.case(f"rank {rank} killed at the end", killed_at_the_end, rank)


def test_random_kills(cases, count=10, seed=20):
    draw = random.Random(seed)
    for _ in range(count):
        rank, seconds = draw.randrange(2), draw.uniform(0, 1)
        cases.case(f"rank {rank} killed {seconds:.2f} s after it made its folder", killed_at_random, rank, seconds)


# The launcher's end, and the end of all.


def all_killed():
    """What is left is removed by the next run; a run that lives beside it keeps its files, and a link is not followed."""
    place = SwapPlace()
    kept = looks_left(place.path / "kept")
    (place.drive / "shardlab-swap-link").symlink_to(kept)
    with Running(place, place.swapping("living")) as living:
        living.catch(0, _swap.rests)
        living.go_on(0)
        files = removed_by_the_next(place)
        step = living.catch(1, _swap.rests).steps["drive.master"]
        check(len(files_below(living.folder(0))) > 8, f"the next run touched a run that lives: {files_below(living.folder(0))}")
        living.go_on(1)
        living.catch(1, lambda look: (look.steps.get("drive.master") or 0) > step)
        living.go_on(1)
        living.process.send_signal(signal.SIGINT)
        check_told(living, living.end(), "interrupted")
    check(files_below(kept) == ["rank0/.lock", "rank0/drive.master"], f"a link was followed: {files_below(kept)}")
    check(left_on(place.drive) == ["shardlab-swap-link"], f"left: {left_on(place.drive)}")
    return f"{len(files)} files were left, and removed by the next run; the run beside it went on"


def removed_by_the_next(place):
    """The files that a run leaves of which every process is killed."""
    with Running(place, place.swapping("killed")) as killed:
        killed.catch(1, _swap.writes_back)
        killed.stop(0)
        left = killed.folder(1).parent
        for pid in (killed.process.pid, killed.pid(0), killed.pid(1)):
            os.kill(pid, signal.SIGKILL)
        killed.process.wait()
        check(wait_until(lambda: not any(map(name_of, killed.pids.values())), LIMIT), "ranks that were killed are there")
    files = files_below(left)
    check(len(files) > 10, f"nothing was left: {files}")
    check(losses_of(place.run("run", place.swapping("next", steps=2), "--json")) == usual_losses(2), "other losses in the next run")
    check(not left.exists(), f"the next run leaves {files_below(left)}")
    return files


def looks_left(folder):
    """A folder as one of a killed run looks."""
    (folder / "rank0").mkdir(parents=True)
    (folder / "rank0" / ".lock").write_text("")
    (folder / "rank0" / "drive.master").write_text("not to be removed")
    return folder


def launcher_killed():
    place = SwapPlace()
    with Running(place, place.swapping()) as running:
        running.catch(0, _swap.writes_gradients)
        running.go_on(0)
        running.pid(1)
        begin = time.monotonic()
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
        ended = wait_until(lambda: not any(name_of(pid) == "shardlab-rank" for pid in running.pids.values()), LIMIT)
        check(ended, f"ranks live on without their launcher: {running.said()}")
        seconds, left = time.monotonic() - begin, left_on(place.drive)
    check_works_again(place, place.swapping())
    return f"the ranks ended {seconds:.1f} s later and left {left or 'nothing'}; the next run works"


def launcher_signalled(number, phase):
    place = SwapPlace()
    with Running(place, place.swapping()) as running:
        running.catch(1, *PHASES[phase])
        running.go_on(1)
        begin = time.monotonic()
        running.process.send_signal(number)
        line = check_told(running, running.end(begin), "interrupted")
    check_works_again(place, place.swapping())
    return line


def test_ends_of_the_launcher(cases):
    cases.case("launcher and ranks killed beside a run that lives", all_killed)
    cases.case("launcher killed alone", launcher_killed)
    for number in (signal.SIGINT, signal.SIGTERM):
        for phase in ("making setup's first writes", "writing back"):
            cases.case(f"{number.name} to the launcher while {phase}", launcher_signalled, number, phase)


# Files.


def flip(file, at):
    with open(file, "r+b") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
        stream.seek(at)
        stream.write(bytes([byte ^ 0x10]))


def by_a_folder(file):
    file.unlink()
    (file / "inner").mkdir(parents=True)
    (file / "inner" / "file").write_text("x")


def by_a_link(file):
    os.replace(file, file.parent / "moved")
    file.symlink_to("moved")


def by_a_pipe(file):
    file.unlink()
    os.mkfifo(file)


@functools.cache
def other_runs_files():
    """A place in whose folder `old` are the files of rank 1 of another run."""
    place = SwapPlace()
    with Running(place, place.swapping()) as running:
        running.catch(1, _swap.rests)
        shutil.copytree(running.folder(1), place.path / "old")
    return place


# What happens to a file of rank 1 (the file, the run), and words of the message.
DAMAGES = {
    "removed": (lambda file, run: file.unlink(), "is gone"),
    "truncated to half": (lambda file, run: os.truncate(file, file.stat().st_size // 2), "holds"),
    "truncated to nothing": (lambda file, run: os.truncate(file, 0), "holds 0 bytes"),
    "a page longer": (lambda file, run: os.truncate(file, file.stat().st_size + 4096), "more than"),
    "flipped in a byte of data": (lambda file, run: flip(file, 4096 + 1234567), "checksum differs"),
    "flipped in the first byte of data": (lambda file, run: flip(file, 4096), "checksum differs"),
    "flipped in a byte of the header": (lambda file, run: flip(file, 17), "header whose checksum differs"),
    "flipped in a byte of the header's checksum": (lambda file, run: flip(file, 4090), "header whose checksum differs"),
    "flipped in the header's first byte": (lambda file, run: flip(file, 0), "header that is not shardlab's"),
    "zeroed": (lambda file, run: file.write_bytes(bytes(file.stat().st_size)), "has no header"),
    "replaced by another run's": (lambda file, run: replace(file, other_runs_files().path / "old" / file.name),
                                  "was written by another run"),
    "replaced by rank 0's": (lambda file, run: replace_by_rank_0s(file, run), "was written by rank 0, not by rank 1"),
    "replaced by a folder": (lambda file, run: by_a_folder(file), "is no ordinary file"),
    "replaced by a link": (lambda file, run: by_a_link(file), "is a link"),
    "replaced by a pipe": (lambda file, run: by_a_pipe(file), "is no ordinary file"),
}
FILES = ("drive.master", "drive.exp_avg", "drive.exp_avg_sq", "drive.master.1", "drive.exp_avg.1", "drive.exp_avg_sq.1")


def told_by(running, folder, name, step, *parts):
    """The run goes on and tells which file of rank 1 it could not use in which instruction."""
    begin = time.monotonic()
    running.go_on(1)
    result = running.end(begin)
    line = check_told(running, result, "rank 1", *parts, f"{folder}/{name}")
    told = result.err.partition("rank 1 failed in ")[2]
    check(told.startswith(f"step {step}, ") and " Copy " in told.partition(":")[0], f"not the instruction of step {step}", result)
    return line


def damaged(name, damage, prefix=()):
    place = SwapPlace()
    hurt, words = damage
    with Running(place, place.swapping(), prefix=prefix) as running:
        running.pid(0)
        look = running.catch(1, _swap.rests)
        folder = running.folder(1)
        hurt(folder / name, running)
        return told_by(running, folder, name, look.steps["drive.master"] + 1, words)


def without_folders():
    """Both ranks lose their files: either may be the first to notice."""
    place = SwapPlace()
    with Running(place, place.swapping()) as running:
        running.pid(0)
        running.catch(1, _swap.rests)
        folder = running.folder(1).parent
        begin = time.monotonic()
        shutil.rmtree(folder)
        running.go_on(1)
        return check_told(running, running.end(begin), "failed in step ", " Copy ", f"{folder}/rank", "/drive.gradient.", "is gone")


def unreadable(name):
    prefix = without_rights()
    if prefix is None:
        raise Skipped("root reads every file, and setpriv cannot take that from it")
    return damaged(name, (lambda file, run: os.chmod(file, 0), "Permission denied"), prefix=prefix)


def outdated(name):
    """A file of an earlier step comes back."""
    place = SwapPlace()
    with Running(place, place.swapping()) as running:
        running.catch(1, _swap.rests)
        folder = running.folder(1)
        earlier = step_of(folder / name)
        shutil.copyfile(folder / name, place.path / "earlier")
        running.go_on(1)
        look = running.catch(1, lambda look: _swap.rests(look) and look.steps[name] > earlier)
        replace(folder / name, place.path / "earlier")
        return told_by(running, folder, name, look.steps[name] + 1, f"holds the data of step {earlier}")


def test_damaged_files(cases):
    """Each damage befalls one of the files, in turn."""
    for number, (what, damage) in enumerate(DAMAGES.items()):
        name = FILES[number % len(FILES)]
        cases.case(f"{name} {what}", damaged, name, damage)
    # The gradients' files, which are opened first, are told.
    cases.case("rank 1's folder removed", damaged, "drive.gradient.", (lambda file, run: shutil.rmtree(file.parent), "is gone"))
    cases.case("the run's folder removed", without_folders)
    cases.case("drive.exp_avg of an earlier step", outdated, "drive.exp_avg")
    cases.case("drive.master unreadable", unreadable, "drive.master")
    cases.case("drive.exp_avg_sq.1 unreadable", unreadable, "drive.exp_avg_sq.1")


# Full drives.


def told_on(place, drive, *parts):
    with Running(place, place.swapping(drive=drive), drive=drive) as running:
        result = running.end()
        line = check_told(running, result, "failed in ", "no room", *parts)
        check("rank 0" in result.err or "rank 1" in result.err, "no rank is named", result)
        check(f"{drive}/shardlab-swap-" in result.err and "/drive." in result.err, "no file is named", result)
        check(" Copy " in result.err or "allocates" in result.err, "no instruction is named", result)
        return line


def full_tmpfs(size, where, **options):
    place = SwapPlace()
    with tmpfs(place.path / "small", size, **options) as drive:
        return told_on(place, drive, where)


def no_more_files():
    """The bytes are not what is missing, and the message does not say so."""
    place = SwapPlace()
    with tmpfs(place.path / "small", "1g", nr_inodes=12) as drive:
        line = told_on(place, drive, "step 0, ")
        misled = re.search(r"[0-9.]+ MiB are needed, [0-9]{3,} MiB are free", line)
        check(not misled, f"it says that room is missing where most is free: {line}")
        return line


def full_disk(size, where):
    place = SwapPlace()
    with small_disk(place, size) as drive:
        return told_on(place, drive, where)


def full_from_the_start():
    """Not even a page can be written."""
    place = SwapPlace()
    with tmpfs(place.path / "small", "32k") as drive:
        (drive / "filler").write_bytes(bytes(32 << 10))
        with Running(place, place.swapping(drive=drive), drive=drive) as running:
            result = running.end()
            check_nothing_left(running, result)
            check(result.code in (3, 4), f"exit code {result.code}", result)
            for part in ("error: ", "rank ", "no room"):
                check(part in result.err, f"the message does not contain '{part}'", result)
            return f"code {result.code} after {result.seconds:.1f} s: {first_line(result)}"


def test_full_drives(cases):
    cases.case("a tmpfs with room for setup's files, not for those of the first step", full_tmpfs, "12m", "step 0, ")
    cases.case("a tmpfs without room for setup's files", full_tmpfs, "3m", "setup, ")
    cases.case("a tmpfs on which no file more can be made", no_more_files)
    cases.case("a tmpfs that is full from the start", full_from_the_start)
    cases.case("an ext4 with room for setup's files, not for those of the first step", full_disk, 16 << 20, "step 0, ")
    cases.case("an ext4 without room for setup's files", full_disk, 6 << 20, "setup, ")


# The drive's folder.


def refused_path(prepare, prefix=()):
    place = SwapPlace()
    path = place.path / "path"
    prepare(path)
    with Running(place, place.swapping(drive=path), prefix=prefix) as running:
        result = running.end()
        return check_told(running, result, "cluster.nvme.path", code=2)


def read_only(path):
    path.mkdir(mode=0o555)


def unwritable_path():
    prefix = without_rights()
    if prefix is None:
        raise Skipped("root writes everywhere, and setpriv cannot take that from it")
    return refused_path(read_only, prefix)


def job_alone(place):
    """The job of a run of one rank, and the name of its folder on the drive."""
    spool = place.path / "spool"
    losses_of(place.run("run", place.swapping(ranks=1, steps=1), "--keep-spool", spool, "--json"))
    return spool / "job.json", place.drive / f"shardlab-swap-{json.loads((spool / 'job.json').read_text())['swap_run']}"


def link_refused(inner):
    """Another user cannot lead a run elsewhere: its folder, or its rank's, is there already as a link."""
    place = SwapPlace()
    job, folder = job_alone(place)
    elsewhere = place.path / "elsewhere"
    elsewhere.mkdir()
    if inner:
        folder.mkdir()
    (folder / "rank0" if inner else folder).symlink_to(elsewhere)
    environment = place.environment(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="1")
    done = subprocess.run([pathlib.Path(PROGRAM).parent / "shardlab-rank", "--job", job], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, timeout=60, env=environment, cwd=place.path, check=False)
    check(done.returncode in (3, 4), f"exit code {done.returncode}: {done.stderr}")
    check(str(folder) in done.stderr and "is a link" in done.stderr and "cluster.nvme.path" in done.stderr, done.stderr)
    check(list(elsewhere.iterdir()) == [], f"it swapped elsewhere: {files_below(elsewhere)}")
    return f"code {done.returncode}: {done.stderr.splitlines()[0]}"


def test_folders_of_the_drive(cases):
    cases.case("the drive's folder is missing", refused_path, lambda path: None)
    cases.case("the drive's folder is a file", refused_path, lambda path: path.write_text("x"))
    cases.case("the drive's folder cannot be written to", unwritable_path)
    cases.case("a link in the place of the run's folder", link_refused, False)
    cases.case("a link in the place of the rank's folder", link_refused, True)


# Runs without faults, beside each other and against host memory.


def two_at_once():
    place = SwapPlace()
    with Running(place, place.swapping("one", steps=8), "--json") as one, Running(place, place.swapping("two", steps=8), "--json") as two:
        first, second = losses_of(one.end()), losses_of(two.end())
    check(first == second == usual_losses(8), f"other losses: {first}, {second}, alone {usual_losses(8)}")
    check(left_on(place.drive) == [], f"left: {left_on(place.drive)}")
    return f"the same {len(first)} losses as alone"


def trained(place, name, **settings):
    weights = place.path / f"{name}.safetensors"
    losses = losses_of(place.run("run", place.swapping(name, **settings), "--json", "--save-weights", weights))
    return losses, weights.read_bytes()


def equals_host_memory(pipelined, accumulation):
    place = SwapPlace()
    settings = {"accumulation": accumulation, "steps": 20 if pipelined else 5}
    losses, weights = trained(place, "nvme", offload=PIPELINED if pipelined else "optimizer: nvme", **settings)
    wanted, wanted_weights = trained(place, "cpu", offload="optimizer: cpu", **settings)
    check(losses == wanted, f"losses {losses}, with the optimizer in host memory {wanted}")
    check(weights == wanted_weights, "other weights than with the optimizer in host memory")
    check(left_on(place.drive) == [], f"left: {left_on(place.drive)}")
    return f"{len(losses)} losses, the last {losses[-1]:.6f}, and {len(weights)} bytes of weights are the same"


def test_equal_runs(cases):
    cases.case("two runs at once on one drive", two_at_once)
    for pipelined in (False, True):
        for accumulation in (1, 2):
            name = f"{'pipelined' if pipelined else 'plain'}, accumulation {accumulation}"
            cases.case(f"swapped against host memory, {name}", equals_host_memory, pipelined, accumulation)


def run_all(tests):
    cases = Cases()
    for test in tests:
        test(cases)
    cases.finish()


if __name__ == "__main__":
    run_all([test_killed_ranks, test_random_kills, test_ends_of_the_launcher, test_damaged_files, test_full_drives,
             test_folders_of_the_drive, test_equal_runs])
