"""Every call of the C library fails once, in the launcher and in the ranks of a real run; signals at every phase of it."""

import os
import signal

import _faults
from _faults import NIGHTLY, Command, Fault, attack, each_call
from _shardlab import PROGRAM, check, expect, main, needs_torch

needs_torch()

MOST = 40 if NIGHTLY else 2
LIMIT = 75  # seconds: half a minute for the others after the first failure, and what a run takes
LAUNCHER, RANK = os.path.basename(PROGRAM), "shardlab-rank"
# Reading libraries and the heap happens tens of thousands of times a rank, before any of our lines.
OURS = [call for call in _faults.CALLS if call not in ("new", "mmap", "clock_gettime")]


def trains(place):
    scenario = place.scenario(extra="launch: {timeout: 4s}\n")
    expect(place.run("simulate", scenario, "--quiet"), 0)
    return ["run", scenario, "--quiet"]


def run_of(program, rank=None):
    name = "the launcher" if program == LAUNCHER else f"rank {rank}"
    return Command(name, trains, stores=True, program=program, rank=rank, limit=LIMIT)


def test_every_call_of_the_launcher_fails_once():
    check(not attack(run_of(LAUNCHER), each_call(MOST, OURS)), "faults ended wrongly")


def test_every_call_of_a_rank_fails_once():
    """Most calls are Gloo's, which takes half a write for a broken connection."""
    ranks, most = ((0, 1), MOST) if NIGHTLY else ((1,), 1)
    wrong = [each for rank in ranks for each in attack(run_of(RANK, rank), each_call(most, OURS, strict=False))]
    check(not wrong, f"{len(wrong)} faults ended wrongly")


def at_every_phase(kinds, most, calls):
    """A signal while the process makes one of these calls."""
    def faults(counts):
        for kind in kinds:
            for call in calls:
                for at in _faults.some(counts[call], most):
                    yield Fault(call, at, f"signal {int(kind)}"), False
    return faults


def test_signals_to_the_launcher_and_the_ranks():
    most, calls = (10, ("open", "write", "poll", "connect", "close")) if NIGHTLY else (1, ("open", "poll"))
    signals = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
    ended = tuple(-int(each) for each in signals)
    launcher = at_every_phase(signals, 2 * most, ("open", "posix_spawn", "waitpid", "pwrite"))
    wrong = attack(run_of(LAUNCHER), launcher, codes=(0, 1, 2, 3, 4, *ended), may_leave=True)
    wrong += attack(run_of(RANK, 1), at_every_phase(signals + (signal.SIGSTOP,), most, calls))
    check(not wrong, f"{len(wrong)} signals ended wrongly")


main(globals())
