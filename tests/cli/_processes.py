"""Finding and watching the processes that a command started."""

import os
import time


def stat_fields(pid):
    """Fields of /proc/PID/stat after the name, or None when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None


def descendants(pid):
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = stat_fields(name)
            if fields and fields[0] != "Z":
                parents[int(name)] = int(fields[1])
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        children = [child for child, of in parents.items() if of == parent]
        found += children
        todo += children
    return sorted(found)


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def ranks_of(pid):
    return [child for child in descendants(pid) if name_of(child) == "shardlab-rank"]


def processor_seconds(pid):
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0


def wait_until(condition, seconds):
    """Whether the condition became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def wait_for_training(process, ranks, used_seconds=2.5, seconds=90):
    """The pids of the ranks, once each has used enough processor time to be in the middle of training."""
    def training():
        pids = ranks_of(process.pid)
        return len(pids) == ranks and all(processor_seconds(pid) > used_seconds for pid in pids)
    if not wait_until(lambda: training() or process.poll() is not None, seconds) or process.poll() is not None:
        process.kill()
        raise AssertionError(f"the ranks did not start to train: {process.communicate()}")
    return ranks_of(process.pid)
