"""Files that somebody names and that are none: whoever reads them does so in one way, which neither waits nor fills the memory."""
# processors: 1

import os
import subprocess

from _watched import Place, check, check_refused, kept_run, pipe, watch

from _shardlab import PROGRAM, main

OOM = "step 1 loss 2.1\n[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 388.00 MiB.\n"
SEARCH = "scenario: s.yaml\nvary: {train.micro_batch: [1, 2]}\n"


def test_targets_of_the_doctor():
    place = Place()
    for name in ("job.log", "train.py", "s.yaml", "ds_config.json", "dump"):
        file = pipe(place, name)
        check_refused(watch(place, "doctor", file), "is a pipe")
        for kind in ("log", "flight", "program"):
            check_refused(watch(place, "doctor", "--as", kind, file), "is a pipe")
        for kind in ("scenario", "files"):  # what is wrong with those is a finding
            found = check_refused(watch(place, "doctor", "--as", kind, file), codes=(1,))
            check(b"is a pipe" in found.out, "it does not say so", found)
    for kind in ("log", "flight", "program"):
        check_refused(watch(place, "doctor", "--as", kind, "/dev/zero"), "is a device")
        check_refused(watch(place, "doctor", "--as", kind, "/proc/self/mem"), "cannot be read")
    check_refused(watch(place, "doctor", "--as", "log", str(place.path)), "is a folder", "one by one")
    check_refused(watch(place, "doctor", str(place.path)), "is a folder without dumps")


def test_standard_input_is_waited_for():
    """Who says so wants to wait: `-` takes a pipe, also one that is slow, and no other name does."""
    place = Place()
    process = subprocess.Popen([PROGRAM, "doctor", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=place.environment(), cwd=place.path)
    for piece in (OOM[:20], OOM[20:30], OOM[30:]):
        process.stdin.write(piece)
        process.stdin.flush()
    out, err = process.communicate(timeout=60)
    check(process.returncode == 1 and "memory/" in out, f"{process.returncode}: {out}{err}")
    (place.path / "job.log").write_text(OOM)
    with open(place.path / "job.log", "rb") as log:
        check(watch(place, "doctor", "-", stdin=log).code == 1, "a file on standard input")
    with open("/dev/null", "rb") as nothing:
        check_refused(watch(place, "doctor", "-", stdin=nothing), "is empty")


def test_folders_of_runs():
    place = Place()
    for name, target in (("job.json", None), ("job-0.json", None), ("job.json", "/dev/zero"), ("job.json", "/proc/self/mem")):
        folder = place.path / f"kept-{name}-{os.path.basename(target or 'pipe')}"
        folder.mkdir()
        os.symlink(target, folder / name) if target else os.mkfifo(folder / name)
        check_refused(watch(place, "import", str(folder)), "cannot read its job")
    folder = kept_run(place)
    check_refused(watch(place, "import", str(folder)), "the records of rank 0, 1 are not here", codes=(4,))
    spool = folder / "rank-0.spool"
    os.mkfifo(spool)
    check_refused(watch(place, "import", str(folder)), "is a pipe, not a record of a rank")
    spool.unlink()
    os.symlink("/dev/zero", spool)
    check_refused(watch(place, "import", str(folder)), "is a device, not a record of a rank")
    spool.unlink()
    spool.write_bytes(b"")
    os.truncate(spool, 1 << 35)  # without blocks behind it
    check_refused(watch(place, "import", str(folder)), "is a line of more than 256 MiB")
    spool.write_text("[[[\n")
    check_refused(watch(place, "import", str(folder)), "rank-0.spool:1: is not a record of a run")


def test_results_of_searches():
    place = Place()
    place.scenario("s")
    (place.path / "q.yaml").write_text(SEARCH)
    results = place.path / "q.results"
    results.write_bytes(b"{")
    os.truncate(results, 1 << 40)
    check_refused(watch(place, "search", "q.yaml", "--results", "q.results"), "is larger than 1.00 GiB, not a file of results")
    os.truncate(results, 1 << 29)
    check_refused(watch(place, "search", "q.yaml", "--results", "q.results"), "is a line of more than 1.00 MiB")
    results.write_text("what somebody keeps\n")
    check_refused(watch(place, "search", "q.yaml", "--results", "q.results"), "holds no results of a search, and is left as it is")
    check(results.read_text() == "what somebody keeps\n", "it was written to")
    check_refused(watch(place, "search", "q.yaml", "--results", pipe(place, "r")), "is no ordinary file")


main(globals())
