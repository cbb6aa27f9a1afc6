"""How time and memory of planning and of simulating grow with layers, micro-batches and ranks.

Each row is a process of its own; the slope is that of the logarithms between two rows: 1 is linear, 0 does not grow. The smallest rows
are mostly the start of the process. Prints, judges nothing.
"""

import math
import os
import subprocess
import tempfile
import time

PROGRAM = os.environ["SHARDLAB"]
SCENARIO = """name: growth
model: {config: tiny-llama, sequence_length: 64, overrides: {num_hidden_layers: 4}}
cluster: {node: hgx-h100, nodes: 1}
parallel: {strategy: fsdp2}
train: {micro_batch: 1}
"""
AXES = (
    ("layers", (10, 100, 1000, 10000), lambda n: [f"model.overrides.num_hidden_layers={n}"]),
    ("layers, checkpointed", (10, 100, 1000, 10000), lambda n: [f"model.overrides.num_hidden_layers={n}", "activation.checkpoint=full"]),
    ("micro-batches", (1, 10, 100, 1000), lambda n: [f"train.accumulation={n}", "train.sync=every"] if n > 1 else []),
    ("ranks", (2048, 102_400, 10_240_000, 102_400_000), lambda n: [
        f"cluster={{gpu: H100-SXM, gpus_per_node: 1024, nodes: {n // 1024}, inter_node_gbps_per_gpu: 50}}"]),
)
COMMANDS = (("plan", ["plan", "--units"]), ("simulate", ["simulate", "--no-store"]))


def measured(arguments, settings, scenario):
    """Seconds and MiB of one process; None where it is refused."""
    sets = [part for setting in settings for part in ("--set", setting)]
    begin = time.monotonic()
    process = subprocess.Popen([PROGRAM, *arguments, scenario, *sets], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    err = process.stderr.read()
    process.stderr.close()
    if process.returncode not in (0, 1):
        print(f"    refused: {err.splitlines()[0] if err else process.returncode}")
        return None
    return seconds, usage.ru_maxrss / 1024


def slope(before, now, n_before, n_now):
    return f"{math.log(now / before) / math.log(n_now / n_before):6.2f}" if before else "     -"


def main():
    with tempfile.TemporaryDirectory() as folder:
        scenario = os.path.join(folder, "growth.yaml")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        for axis, numbers, settings in AXES:
            for name, arguments in COMMANDS:
                print(f"{name}, by {axis}\n{axis.split(',')[0]:>14} {'seconds':>9} {'slope':>6} {'MiB':>8} {'slope':>6}")
                last = None
                for n in numbers:
                    now = measured(arguments, settings(n), scenario)
                    if now is None:
                        break
                    before = last or (n, None, None)
                    print(f"{n:>14,} {now[0]:>9.2f} {slope(before[1], now[0], before[0], n)} {now[1]:>8.0f} {slope(before[2], now[1], before[0], n)}",
                          flush=True)
                    last = (n, *now)


main()
