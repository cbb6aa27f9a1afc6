"""Tokens per second and peak memory of shardlab (native, and the plan of fsdp2) against Python's FSDP2, eager and compiled, on one GPU.

The same weights, text, dtypes (bfloat16 parameters and float32 reductions over float32 shards), SDPA and fused AdamW on all sides. They
take turns; ratios are of medians over all rounds. Prints a table and writes JSON: ratio_eager, ratio_compiled (tokens per second of
native over theirs), all sides' figures, machine and versions. Targets: native 1.15 x eager and 1.0 x compiled, peak allocated at most
FSDP2's. argv: the file for the JSON (default: compare_fsdp2.json here).
"""
import json
import os
import socket
import statistics
import subprocess
import sys

from _gpu import REHEARSE, SMALL, SOURCE, TEXT, Folder, need_gpu, scenario, shardlab, write

LLAMA_1B = {**SMALL, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
            "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": True}
LLAMA_8B_16_LAYERS = {**SMALL, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 16, "num_attention_heads": 32,
                      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128256}
CASES = {"llama 1B, 4 x 4096": {"config": LLAMA_1B, "sequence_length": 4096, "micro_batch": 4, "checkpoint": False},
         "llama 8B cut to 16 layers, 1 x 4096, checkpointed": {"config": LLAMA_8B_16_LAYERS, "sequence_length": 4096, "micro_batch": 1,
                                                               "checkpoint": True}}
ROUNDS, WARMUP, STEPS = 3, 4, 10
if REHEARSE:
    CASES = {"small": {"config": SMALL, "sequence_length": 64, "micro_batch": 2, "checkpoint": False}}
    ROUNDS, WARMUP, STEPS = 1, 2, 2


def ours(folder, case, strategy, weights, detail="instructions"):
    content = scenario(folder, case["config"], parallel={"strategy": strategy}, precision={"param": "bfloat16", "reduce": "float32"},
                       model={"sequence_length": case["sequence_length"], "weights": str(weights)},
                       train={"micro_batch": case["micro_batch"], "learning_rate": 1e-4},
                       measure={"warmup_steps": WARMUP, "steps": STEPS, "detail": detail},
                       activation={"checkpoint": "full" if case["checkpoint"] else "none"})
    run = shardlab("run", write(folder, strategy, content), "--db", folder / "runs.db")
    memory = run["memory"]
    return {"seconds": run["step_time_ns"]["median"] / 1e9, "losses": run["losses"], "peak_allocated": memory["peak_allocated"],
            "peak_reserved": memory["peak_reserved"], "mfu": run["mfu"], "operators": run["operators"]}


def print_shares(run):
    """Of a run of its own: timing every operator costs the step a little."""
    shares = {}
    for op in run["operators"]:
        kind = next((kind for kind in ("linear", "attention") if kind in op["operation"]), "other operators")
        shares[kind] = shares.get(kind, 0) + op["time_ns"] / 1e9 / run["seconds"]
    print("share of native's step: " + ", ".join(f"{kind} {share:.1%}" for kind, share in sorted(shares.items())), flush=True)
    return shares


def theirs(case, compiled, weights):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    spec = {**case, "compile": compiled, "weights": str(weights), "text": str(TEXT), "learning_rate": 1e-4, "warmup": WARMUP,
            "steps": STEPS, "rehearse": REHEARSE, "port": port}
    done = subprocess.run([os.environ["SHARDLAB_PYTHON"], str(SOURCE / "tests/gpu/_fsdp2_on_gpu.py"), json.dumps(spec)],
                          capture_output=True, text=True, timeout=900)
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    if done.returncode != 0 or not lines:
        sys.exit(f"Python's FSDP2 failed: {done.stderr[-3000:]}")
    answer = json.loads(lines[0][len("ANSWER "):])
    answer["seconds"] = statistics.median(answer["seconds"])
    return answer


def make_weights(folder, case):
    """Trained with a rate of zero: shardlab's initial weights, which both sides load."""
    content = scenario(folder, case["config"], parallel={"strategy": "none"}, train={"learning_rate": 0.0, "micro_batch": 1},
                       measure={"warmup_steps": 1, "steps": 1})
    file = folder / "weights.safetensors"
    shardlab("run", write(folder, "weights", content), "--db", folder / "weights.db", "--save-weights", file)
    return file


def compare(name, case):
    ways = {"native": lambda f, w: ours(f, case, "native", w), "fsdp2": lambda f, w: ours(f, case, "fsdp2", w),
            "PyTorch eager": lambda f, w: theirs(case, False, w), "PyTorch compiled": lambda f, w: theirs(case, True, w)}
    rounds = {way: [] for way in ways}
    with Folder() as folder:
        weights = make_weights(folder, case)
        for _ in range(ROUNDS):
            for way, run in ways.items():
                rounds[way].append(run(folder, weights))
        detailed = ours(folder, case, "native", weights, detail="operators")
    tokens = case["micro_batch"] * case["sequence_length"]
    result = {"tokens_a_step": tokens, "ways": {}}
    print(f"\n{name}\n{'':18} {'tokens/s':>10} {'ms a step':>10} {'allocated':>11} {'reserved':>11}  last loss")
    for way, answers in rounds.items():
        seconds = statistics.median(answer["seconds"] for answer in answers)
        last = answers[-1]
        size = lambda key: f"{last[key] / 2**30:.2f} GiB" if last[key] else "-"
        print(f"{way:18} {tokens / seconds:10.0f} {seconds * 1e3:10.1f} {size('peak_allocated'):>11} {size('peak_reserved'):>11}  "
              f"{last['losses'][-1]:.5f}", flush=True)
        result["ways"][way] = {"tokens_per_second": tokens / seconds, "rounds": answers}
    speed = {way: entry["tokens_per_second"] for way, entry in result["ways"].items()}
    result["ratio_eager"] = speed["native"] / speed["PyTorch eager"]
    result["ratio_compiled"] = speed["native"] / speed["PyTorch compiled"]
    result["fsdp2_ratio_eager"] = speed["fsdp2"] / speed["PyTorch eager"]
    print(f"native / eager {result['ratio_eager']:.3f} (target 1.15), native / compiled {result['ratio_compiled']:.3f} (target 1.0), "
          f"mirrored fsdp2 / eager {result['fsdp2_ratio_eager']:.3f}", flush=True)
    mine, other = (rounds[way][-1]["peak_allocated"] for way in ("native", "PyTorch eager"))
    if mine and other:
        print(f"peak allocated: native {mine / other:.3f} of eager (target: at most 1)", flush=True)
    result["shares"] = print_shares(detailed)
    return result


def main():
    machine = need_gpu()
    results = {"machine": machine, "shardlab": shardlab("version"), "cases": {name: compare(name, case) for name, case in CASES.items()}}
    file = sys.argv[1] if len(sys.argv) > 1 else "compare_fsdp2.json"
    with open(file, "w") as stream:
        json.dump(results, stream, indent=1)
    print(f"\nwritten to {file}")


main()
