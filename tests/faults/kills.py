"""Commands killed at their writes: what was stored stays, files are whole, and the same command does its work afterwards."""

import signal

import _faults
from _faults import NIGHTLY, Command, Fault, alike, execute, judge, some, Undisturbed
from _shardlab import check, main
from commands import COMMANDS

MOST = 60 if NIGHTLY else 6
WRITES = ("write", "pwrite", "fsync", "fdatasync", "rename", "unlink", "open", "close")
ENDS = (0, 1, 2, 3, 4, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)


def killed(command, undisturbed, fault):
    """None, or what is wrong after the kill or after the next start."""
    try:
        outcome = execute(command, fault, again=True)
        judge(command, undisturbed, outcome.before, fault, codes=ENDS, may_leave=True)
        check(outcome.code == undisturbed.code, f"started again: code {outcome.code}, {outcome.err[-400:]!r}")
        stored = len(outcome.runs or []) - len(command.runs_before or [])
        check(stored in ((1, 2) if command.stores else (0,)), f"started again: {stored} runs more")
        for path, content in undisturbed.files.items():
            check(path in undisturbed.changing or outcome.files.get(path) == content, f"started again: {path} is another file")
        return None
    except AssertionError as wrong:
        return str(wrong)


def test_kills_at_every_write():
    wrong, kills = [], 0
    for prepare, stores in COMMANDS:
        command = Command(prepare.__name__, prepare, stores)
        undisturbed = Undisturbed(command)
        faults = [Fault(call, at, f"signal {int(signal.SIGKILL)}")
                  for call in WRITES for at in some(undisturbed.counts[call], MOST)]
        found = [(fault, message) for fault, message in zip(faults, _faults.in_parallel(lambda fault: killed(command, undisturbed, fault),
                                                                                       faults)) if message]
        kills += len(faults)
        wrong += found
        print(f"{command.name}: killed {len(faults)} times, {len(found)} ended wrongly")
        for message, those in alike(found).items():
            print(f"    {message}\n        {len(those)} times: {', '.join(map(str, those[:6]))}")
    check(not wrong, f"{len(wrong)} of {kills} kills ended wrongly")


if __name__ == "__main__":
    main(globals())
