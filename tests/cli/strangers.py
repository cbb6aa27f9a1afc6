"""What others may hand over, or try while a run goes on: files that are none, scenarios that would run their code, other machines."""
import glob
import os
import stat
import time

from _shardlab import WITH_TORCH, Place, check, expect_error, main


def pipe(place, name):
    os.mkfifo(place.path / name)
    return str(place.path / name)


def test_pipes_are_not_waited_for():
    place = Place()
    scenario = place.scenario()
    for name, arguments in {"a.yaml": ["plan"], "b.yaml": ["search"], "c.json": ["import"], "d.pickle": ["replay"]}.items():
        done = expect_error(place.run(*arguments, pipe(place, name), timeout=20), 2, "is a pipe")
        check(done.seconds < 10, "was waited for", done)
    for key in ("model.config", "train.data", "model.weights"):
        if key != "model.config" and not WITH_TORCH:
            continue
        file = pipe(place, key + (".safetensors" if key == "model.weights" else ""))
        expect_error(place.run("run" if key != "model.config" else "plan", scenario, "--set", f"{key}={file}", timeout=20), 2, "is a pipe")
    expect_error(place.run("plan", scenario, "--set", "model.config=/dev/zero", timeout=20), 2, "is a device")


def test_scenarios_load_no_code():
    place = Place()
    for command in ("plan", "simulate", "run", "export"):
        expect_error(place.run(command, place.scenario(), "--set", "launch.env={LD_PRELOAD: /tmp/theirs.so}"), 2, "LD_PRELOAD would make the ranks load")
    if WITH_TORCH:
        expect_error(place.run("run", place.scenario(), "--set", "launch.env={ANYTHING: 1}"), 2, "no library of the ranks reads 'ANYTHING'")


def test_outputs_replace_files_alone():
    if not WITH_TORCH:
        return
    place = Place()
    file = pipe(place, "weights.safetensors")
    expect_error(place.run("run", place.scenario(), "--save-weights", file), 2, "is no ordinary file")
    check(stat.S_ISFIFO(os.stat(file).st_mode), "the pipe is still there")


def listening(process):
    """Addresses, in the kernel's hexadecimal, on which a process and its children listen."""
    sockets = set()
    for task in [process, *children(process)]:
        for descriptor in glob.glob(f"/proc/{task}/fd/*"):
            try:
                target = os.readlink(descriptor)
            except OSError:
                continue
            if target.startswith("socket:["):
                sockets.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{table}").readlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                found.add(fields[1].rpartition(":")[0])
    return found


def children(process):
    try:
        return [int(child) for child in open(f"/proc/{process}/task/{process}/children").read().split()]
    except OSError:
        return []


def test_ranks_of_one_machine_listen_on_it_alone():
    """Nobody else has to reach them; what the ports do about those who can is in run_secret.py."""
    if not WITH_TORCH:
        return
    place = Place()
    running = place.start("run", place.scenario(steps=2000))
    seen, until = set(), time.monotonic() + 60
    try:
        while time.monotonic() < until and len(children(running.pid)) < 2 or not seen and time.monotonic() < until:
            seen |= listening(running.pid)
            time.sleep(0.2)
        time.sleep(2)
        seen |= listening(running.pid)
    finally:
        running.terminate()
        running.communicate(timeout=60)
    loopback = {"0100007F", "00000000000000000000000001000000"}
    check(seen, "nothing listens")
    check(seen <= loopback, f"listens on {seen - loopback}")


main(globals())
