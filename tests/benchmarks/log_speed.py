"""How long the doctor reads a log of 100 MB: many ranks, progress bars and colours, one failure in the middle and what follows from it.

Prints processor time and memory beside the target of five seconds; judges nothing but that the cause is named.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile

MEGABYTES = 100
TARGET = 5.0
FAILURE = """[rank3]: Traceback (most recent call last):
[rank3]:   File "/workspace/train.py", line 180, in main
[rank3]:     loss.backward()
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.02 GiB \
is free. Including non-PyTorch memory, this process has 78.12 GiB memory in use. Of the allocated memory 76.11 GiB is allocated by PyTorch, \
and 512.00 MiB is reserved by PyTorch but unallocated.
"""


def ordinary_line(dice, rank, step):
    kinds = (
        f"[rank{rank}]: \x1b[32mINFO\x1b[0m step {step} loss {dice.random() * 3:.4f} tokens/s {dice.randrange(9000)}\n",
        f"\rTraining: {step % 100}%|{'#' * (step % 40):40}| {step}/100000 [00:{step % 60:02d}<10:00:00,  1.2it/s]",
        f"[rank{rank}]:[W101 12:00:00.123 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank {rank}] using GPU {rank} for a barrier\n",
        f"{{\"loss\": {dice.random():.4f}, \"learning_rate\": 1e-5, \"epoch\": {step / 1000:.2f}}}\n",
        f"node1:{1000 + rank}:{2000 + rank} [{rank}] NCCL INFO Channel {rank:02d}/0 : {rank}[{rank}] -> {(rank + 1) % 8} via P2P/CUMEM\n")
    return dice.choice(kinds)


def consequence(rank, step):
    return (f"[rank{rank}]:[E101 12:10:00.1 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation timeout: "
            f"WorkNCCL(SeqNum={step}, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600010 milliseconds\n")


def write_log(file):
    dice, written, step = random.Random(7), 0, 0
    while written < MEGABYTES * 1_000_000:
        failed = written > MEGABYTES * 500_000
        lines = [ordinary_line(dice, rank, step) for rank in range(8)]
        if failed and step % 50 == 0:
            lines += [consequence(rank, step) for rank in range(8) if rank != 3]
        written += file.write("".join(lines))
        if not failed and written > MEGABYTES * 500_000:
            file.write(FAILURE)
        step += 1


with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
    write_log(log)
    log.flush()
    done = subprocess.run([os.environ["SHARDLAB"], "doctor", log.name], capture_output=True, text=True, timeout=300)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
print(f"a log of {MEGABYTES} MB: {seconds:.2f} s of processor time, {used.ru_maxrss / 1024:.0f} MiB; "
      f"target {TARGET} s: {'met' if seconds <= TARGET else 'NOT MET'}")
print(done.stdout.split("\n", 1)[0])
sys.exit(0 if "on rank 3" in done.stdout.split("\n", 1)[0] else 1)
