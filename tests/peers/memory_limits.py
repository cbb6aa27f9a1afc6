"""Where a training runs out of memory, and where torch's caching allocator has to give everything back and try again: real FSDP2, FSDP1 and
DDP on a GPU that computes nothing and has only so much memory (hollow_gpu/), beside what `simulate` says of a device of the same size. From
a device that holds all that is reserved down to one that cannot hold what is live. How often it tries again is printed, not compared: torch
takes three steps, `simulate` as many as it needs to see a step repeat itself.

memory_limits.py [LIMITS]: how many sizes of each training's device
"""
# processors: 1
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder
from reserved_memory import case, describe, needed_here, recorded, simulated


def trainings():
    small = {"hidden": 2048, "heads": 16, "kv_heads": 8, "ffn": 7168, "layers": 8, "vocabulary": 32000, "sequence": 2048, "micro_batch": 2}
    return [case(**small), case(**small, strategy="fsdp1", checkpoint=True),
            case(**small, conf="expandable_segments:True"),
            case(**{**small, "kv_heads": 16, "micro_batch": 1}, strategy="ddp", param="float32")]


def limits_of(run, count):
    """Bytes that the allocator may have, from all that it would take down to less than what is active."""
    memory = run["memory"]
    most, least = 1.02 * memory["peak_reserved"], 0.95 * memory["peak_active"]
    return [int(most - (most - least) * step / (count - 1)) for step in range(count)]


def bytes_beside(run):
    """What libraries take of the device beside the allocator."""
    return sum(row["bytes"] for row in run["memory"]["overheads"] if row["where"] == "device")


def predicted_end(values, limit, beside, folder):
    run = simulated({**values, "memory": limit + beside}, folder)
    return end(run["memory"]["peak_device"] > run["memory_limit"], run["memory"]["allocator_retries"]), run["fit_probability"]


def end(failed, retries):
    return "out of memory" if failed else f"{retries} retries" if retries else "fits"


def same(ours, real):
    """Whether it ends in the same way, however often it had to try again."""
    return ours == real or (ours.endswith("retries") and real.endswith("retries"))


def reliability(likely):
    """How often what was said to be so likely did run."""
    print("fit_probability    devices  predicted  ran")
    for low, high in ((0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.01)):
        said = [each for each in likely if low <= each[0] < high]
        if said:
            mean, ran = (sum(each[which] for each in said) / len(said) for which in (0, 1))
            print(f"{low:4.0%} to {min(high, 1):4.0%}       {len(said):7}  {mean:9.0%}  {ran:4.0%}")


def main():
    needed_here()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    compared = agreed = ends = 0
    likely = []
    with Folder() as folder:
        free = [simulated(values, folder) for values in trainings()]
        limits = [limits_of(run, count) for run in free]
        # All in one go: the worker takes longer to begin than most cases do.
        answers = iter(recorded([{**values, "memory": limit} for values, each in zip(trainings(), limits) for limit in each], folder))
        for values, run, each in zip(trainings(), free, limits):
            print(describe(values))
            for limit in each:
                real = next(answers)[0]
                theirs = end(real["failed"], real["retries"])
                ours, probability = predicted_end(values, limit, bytes_beside(run), folder)
                likely.append((probability, theirs != "out of memory"))
                compared += 1
                agreed += same(ours, theirs)
                ends += (ours == "out of memory") == (theirs == "out of memory")
                print(f"  {limit / 2**30:7.3f} GiB: real {theirs:14} predicted {ours:14} {probability:4.0%} likely" + ("" if same(ours, theirs) else " DIFFERS"))
    reliability(likely)
    print(f"{compared} devices: {agreed} end in the same way, {ends} agree on whether memory is enough")
    sys.exit(0 if ends >= 0.9 * compared else 1)


main()
