"""Mistakes made in PyTorch's own programs, 2 and 3 ranks under torchrun: what the doctor says first of their logs, and of the dumps of their
flight recorders. Each is a job that takes long to start: of a day's every third is tried, all at night."""
# processors: 2
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder, needed, of_a_day

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_faults_worker.py")
# By mistake: codes of which one is to come first of the log.
LOGS = {
    "killed": ("Y-09", "E-09"),
    "other_models": ("A-03",),
    "unused_parameters": ("Y-03",),
    "two_types": ("Y-01",),
    "frozen_and_not": ("Y-02",),
    "plain_meets_distributed": ("Y-15",),
    "keys_differ": ("C-30",),
    "index_outside": ("Y-17",),
    "broken_file": ("E-19",),
    "one_step_less": ("A-01", "E-09", "D-04"),
    "few_open_files": ("Y-07",),
    "little_host_memory": ("Y-09",),
    "other_world": ("E-20",),
    "half_overflows": ("C-10", "A-15"),
}
# Likewise, of jobs that are started wrongly; each says how (started_as).
STARTS = {
    "no_launcher": ("Y-13",),
    "port_taken": ("Y-08",),
    "wrong_interface": ("C-23", "D-03"),
    "calls_another_watched": ("A-01", "C-21"),
    "full_disk": ("D-16", "E-22"),
    "little_shared_memory": ("Y-06",),
    "limited_group": ("Y-09",),
    "blocked_port": ("E-01", "C-25", "E-02"),
}
# By mistake: the code that is to come first of the dumps, and the rank that is named.
DUMPS = {"skips_one": ("A-01", 1), "calls_another": ("A-01", 1), "other_sizes": ("C-22", 1)}


def environment(**more):
    return dict(os.environ, OMP_NUM_THREADS="1", TORCH_FR_BUFFER_SIZE="100", **more)


def launched(mistake, folder, ranks, *options):
    return [os.environ["SHARDLAB_PYTHON"], "-m", "torch.distributed.run", *(options or ("--standalone",)), f"--nproc-per-node={ranks}", WORKER,
            mistake, str(folder)]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment(**more))


def started(mistake, folder, ranks):
    return run(launched(mistake, folder, ranks))


def in_small_mount(place, size, command):
    """The command where `place` has little room; nothing where this machine forbids mounts."""
    mount = f"mount -t tmpfs -o size={size} none {place} && exec \"$@\""
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount, "sh", "true"], capture_output=True).returncode:
        return None
    return run(["unshare", "-rm", "sh", "-c", mount, "sh", *command])


def remove_group(group):
    """Once the kernel has let its last process go."""
    for _ in range(10):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(1)


def in_small_group(command):
    """The command in a memory cgroup of 900 MB (version 1); nothing where this machine forbids it."""
    group = pathlib.Path("/sys/fs/cgroup/memory") / f"shardlab_{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        for limit in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):  # the second: where swap is counted
            if (group / limit).exists():
                (group / limit).write_text(str(900 << 20))
        return run(["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *command])
    except OSError:
        return None
    finally:
        remove_group(group)


def started_as(mistake, folder):
    command = launched(mistake, folder, 2)
    if mistake == "no_launcher":
        return run([os.environ["SHARDLAB_PYTHON"], WORKER, "killed", str(folder)])
    if mistake == "wrong_interface":
        return run(launched("killed", folder, 2), GLOO_SOCKET_IFNAME="nosuch0")
    if mistake == "calls_another_watched":
        return run(command, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    if mistake == "full_disk":
        return in_small_mount(folder, "1m", command)
    if mistake == "little_shared_memory":
        return in_small_mount("/dev/shm", "1m", command)
    if mistake == "limited_group":
        return in_small_group(command)
    if mistake == "blocked_port":  # nobody listens there, as behind a firewall that refuses
        return run([os.environ["SHARDLAB_PYTHON"], WORKER, "killed", str(folder)], RANK="1", WORLD_SIZE="2", LOCAL_RANK="1",
                   MASTER_ADDR="127.0.0.1", MASTER_PORT="1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        return run(launched("killed", folder, 2, "--master-addr=127.0.0.1", f"--master-port={taken.getsockname()[1]}"))


def examined(target):
    """The document of the doctor, which exits with 1 where something is wrong."""
    done = subprocess.run([os.environ["SHARDLAB"], "doctor", str(target), "--json"], capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def first_of(target):
    return (examined(target)["findings"] or [{"codes": [], "rule": "nothing", "ranks": [], "severity": "info"}])[0]


def wrong_of_log(mistake, codes, done, folder):
    if done is None:
        print(f"{mistake}: this machine forbids it")
        return None
    log = folder / f"{mistake}.log"
    log.write_text(done.stdout + done.stderr)
    finding = first_of(log)
    print(f"{mistake}: {finding['rule']} {' '.join(finding['codes'])}")
    if not set(codes) & set(finding["codes"]):
        return f"{mistake}: {finding}\n{log.read_text()[-3000:]}"


def wrong_of_dumps(mistake, code, rank, folder):
    place = folder / mistake
    place.mkdir()
    done = started(mistake, place, 3)
    finding = first_of(place)
    print(f"{mistake}: {finding['rule']}, ranks {finding['ranks']}: {finding.get('message')}")
    if code not in finding["codes"] or finding["ranks"] != [rank]:
        return f"{mistake}: {finding}\n{done.stdout}{done.stderr}"


needed("SHARDLAB", "SHARDLAB_PYTHON")
LOGS, STARTS, DUMPS = (of_a_day(mistakes, every=3) for mistakes in (LOGS, STARTS, DUMPS))
with Folder() as folder:
    small = folder / "small"
    small.mkdir()
    wrong = [wrong_of_log(mistake, codes, started(mistake, folder, 2), folder) for mistake, codes in LOGS.items()]
    wrong += [wrong_of_log(mistake, codes, started_as(mistake, small), folder) for mistake, codes in STARTS.items()]
    wrong += [wrong_of_dumps(mistake, *expected, folder) for mistake, expected in DUMPS.items()]
    well = folder / "well"
    well.mkdir()
    started("all_is_well", well, 2)
    assert len(list(well.iterdir())) == 2, "no dumps"
    quiet = examined(well)
    if quiet["findings"] or not quiet["notes"]:
        wrong.append(f"not quiet: {quiet}")
wrong = [each for each in wrong if each]
tried = len(LOGS) + len(STARTS) + len(DUMPS) + 1
print(f"{tried - len(wrong)} of {tried} as they should be")
sys.exit("\n".join(wrong) if wrong else 0)
