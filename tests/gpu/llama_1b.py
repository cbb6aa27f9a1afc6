"""Llama 1B under `native` on one GPU, five steps: how long, how much memory, and what was predicted. argv: where the JSON goes."""
import json
import sys

from _gpu import REHEARSE, SOURCE, Folder, cluster, need_gpu, scenario, shardlab, write
from compare_fsdp2 import LLAMA_1B, SMALL

need_gpu()
with Folder() as folder:
    content = scenario(folder, SMALL if REHEARSE else LLAMA_1B, parallel={"strategy": "native"},
                       precision={"param": "bfloat16", "reduce": "float32"}, train={"micro_batch": 1 if REHEARSE else 4},
                       model={"sequence_length": 64 if REHEARSE else 4096},
                       measure={"warmup_steps": 2, "steps": 5, "detail": "operators"})
    content["cluster"] = cluster(1)
    file = write(folder, "llama-1b", content)
    predicted = shardlab("simulate", file, "--no-store")
    measured = shardlab("run", file, "--db", folder / "runs.db", timeout=300)
milliseconds = lambda run: run["step_time_ns"]["median"] / 1e6
for name in ("peak_allocated", "peak_reserved", "peak_device"):
    mine, theirs = measured["memory"].get(name), predicted["memory"].get(name)
    if mine and theirs:
        print(f"{name:16} {mine / 2**20:9.1f} MiB, predicted {theirs / 2**20:9.1f} MiB, {theirs / mine - 1:+.2%}")
print(f"{'step':16} {milliseconds(measured):9.1f} ms, predicted {milliseconds(predicted):9.1f} ms")
for op in sorted(measured["operators"], key=lambda each: -each["time_ns"])[:12]:
    print(f"  {op['operation']:20} {op['direction']:9} {op['time_ns'] / 1e6:8.2f} ms in {op['calls']} calls")
with open(sys.argv[1] if sys.argv[1:] else "llama_1b.json", "w", encoding="utf-8") as stream:
    json.dump({"measured": measured, "predicted": predicted, "shardlab": shardlab("version"), "source": str(SOURCE.name)}, stream, indent=1)
