"""Tokens per second and peak memory of shardlab (native, and the plan of fsdp2) against Python's FSDP2, eager and compiled, on one GPU.

The same weights, text, dtypes (bfloat16 parameters and float32 reductions over float32 shards), SDPA and fused AdamW on all sides. They
take turns; ratios are of medians over all rounds. Prints a table and writes JSON, after every single run: what is killed half-way leaves
what it had; a side that fails is an entry. Options: --case 1b, 8b16 (default: all), --rounds, --ways of native, fsdp2, eager, compiled and
operators (native with every operator timed, in no ratio), --json FILE (default: compare_fsdp2.json here). Targets: native 1.3 x eager and
1.1 x compiled, peak allocated at most FSDP2's.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import tempfile

from _gpu import REHEARSE, SMALL, SOURCE, TEXT, Folder, cluster, device_memory, need_gpu, scenario, shardlab, write

LLAMA_1B = {**SMALL, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
            "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": True}
LLAMA_8B_16_LAYERS = {**SMALL, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 16, "num_attention_heads": 32,
                      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128256}
CASES = {"1b": {"name": "llama 1B, 4 x 4096", "config": LLAMA_1B, "sequence_length": 4096, "micro_batch": 4, "checkpoint": False},
         "8b16": {"name": "llama 8B cut to 16 layers, 1 x 4096, checkpointed", "config": LLAMA_8B_16_LAYERS, "sequence_length": 4096,
                  "micro_batch": 1, "checkpoint": True}}
WAYS = ("native", "fsdp2", "eager", "compiled", "operators")
ROUNDS, WARMUP, STEPS = 3, 4, 10
if REHEARSE:
    CASES = {name: {**case, "config": SMALL, "sequence_length": 64, "micro_batch": 2} for name, case in CASES.items()}
    ROUNDS, WARMUP, STEPS = 1, 2, 2


def ours(folder, case, strategy, weights, detail="instructions"):
    content = scenario(folder, case["config"], parallel={"strategy": strategy}, precision={"param": "bfloat16", "reduce": "float32"},
                       model={"sequence_length": case["sequence_length"], "weights": str(weights)},
                       train={"micro_batch": case["micro_batch"], "learning_rate": 1e-4},
                       measure={"warmup_steps": WARMUP, "steps": STEPS, "detail": detail},
                       activation={"checkpoint": "full" if case["checkpoint"] else "none"})
    content["cluster"] = cluster(1)
    with tempfile.TemporaryDirectory(dir=folder) as spools:
        run = shardlab("run", write(folder, strategy, content), "--db", folder / "runs.db", "--keep-spool", spools, timeout=300)
        device = {} if REHEARSE else device_memory(spools)
    # The allocator's own figure, as the other side reports it: with the workspaces of libraries, which the plan's bytes leave out.
    return {"seconds": run["step_time_ns"]["median"] / 1e9, "losses": run["losses"], "peak_allocated": device.get("allocated"),
            "peak_reserved": device.get("reserved"), "mfu": run["mfu"], "operators": run["operators"]}


def print_shares(run):
    """Of a run of its own: timing every operator costs the step a little."""
    shares = {}
    for op in run["operators"]:
        kind = next((kind for kind in ("linear", "attention") if kind in op["operation"]), "other operators")
        shares[kind] = shares.get(kind, 0) + op["time_ns"] / 1e9 / run["seconds"]
    print("share of native's step: " + ", ".join(f"{kind} {share:.1%}" for kind, share in sorted(shares.items())), flush=True)
    return shares


def inductor_cache():
    """The same for all rounds: compiled once."""
    return os.path.join(tempfile.gettempdir(), "shardlab-inductor")


def theirs(case, compiled, weights):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    spec = {**case, "compile": compiled, "weights": str(weights), "text": str(TEXT), "learning_rate": 1e-4, "warmup": WARMUP,
            "steps": STEPS, "rehearse": REHEARSE, "port": port}
    done = subprocess.run([os.environ["SHARDLAB_PYTHON"], str(SOURCE / "tests/gpu/_fsdp2_on_gpu.py"), json.dumps(spec)],
                          capture_output=True, text=True, timeout=300, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": inductor_cache()})
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"Python's FSDP2 failed: {done.stderr[-1500:]}")
    answer = json.loads(lines[0][len("ANSWER "):])
    answer["seconds"] = statistics.median(answer["seconds"])
    return answer


def make_weights(folder, case):
    """Trained with a rate of zero: shardlab's initial weights, which both sides load."""
    content = scenario(folder, case["config"], parallel={"strategy": "none"}, train={"learning_rate": 0.0, "micro_batch": 1},
                       measure={"warmup_steps": 1, "steps": 1})
    file = folder / "weights.safetensors"
    content["cluster"] = cluster(1)
    shardlab("run", write(folder, "weights", content), "--db", folder / "weights.db", "--save-weights", file, timeout=300)
    return file


def run_way(way, folder, case, weights):
    """One run as an entry; what went wrong is one too."""
    try:
        if way in ("eager", "compiled"):
            return theirs(case, way == "compiled", weights)
        return ours(folder, case, "fsdp2" if way == "fsdp2" else "native", weights, "operators" if way == "operators" else "instructions")
    except Exception as error:  # pylint: disable=broad-except
        return {"failed": f"{type(error).__name__}: {error}"[-1500:]}


def good(entries):
    return [entry for entry in entries if "failed" not in entry]


def summarize(case, rounds):
    """What is known so far: medians, and the ratios of which both sides are there."""
    tokens = case["micro_batch"] * case["sequence_length"]
    result = {"name": case["name"], "tokens_a_step": tokens, "ways": {}}
    for way, entries in rounds.items():
        result["ways"][way] = {"rounds": entries}
        if good(entries):
            result["ways"][way]["tokens_per_second"] = tokens / statistics.median(entry["seconds"] for entry in good(entries))
    speed = {way: entry["tokens_per_second"] for way, entry in result["ways"].items() if "tokens_per_second" in entry}
    for name, mine, other in (("ratio_eager", "native", "eager"), ("ratio_compiled", "native", "compiled"),
                              ("fsdp2_ratio_eager", "fsdp2", "eager")):
        if mine in speed and other in speed:
            result[name] = speed[mine] / speed[other]
    return result


def print_table(case, result):
    print(f"\n{case['name']}\n{'':12} {'tokens/s':>10} {'ms a step':>10} {'allocated':>11} {'reserved':>11}  last loss")
    for way, entry in result["ways"].items():
        if "tokens_per_second" not in entry:
            print(f"{way:12} failed: {(entry['rounds'] or [{'failed': 'not run'}])[-1]['failed'].splitlines()[-1][:100]}", flush=True)
            continue
        last = good(entry["rounds"])[-1]
        size = lambda key: f"{last[key] / 2**30:.2f} GiB" if last[key] else "-"
        print(f"{way:12} {entry['tokens_per_second']:10.0f} {result['tokens_a_step'] / entry['tokens_per_second'] * 1e3:10.1f} "
              f"{size('peak_allocated'):>11} {size('peak_reserved'):>11}  {last['losses'][-1]:.5f}", flush=True)
    for name, text in (("ratio_eager", "native / eager {:.3f} (target 1.3)"), ("ratio_compiled", "native / compiled {:.3f} (target 1.1)"),
                       ("fsdp2_ratio_eager", "mirrored fsdp2 / eager {:.3f}")):
        if name in result:
            print(text.format(result[name]), flush=True)
    peaks = [good(result["ways"].get(way, {"rounds": []})["rounds"]) for way in ("native", "eager")]
    if all(peaks) and all(entries[-1]["peak_allocated"] for entries in peaks):
        print(f"peak allocated: native {peaks[0][-1]['peak_allocated'] / peaks[1][-1]['peak_allocated']:.3f} of eager (target: at most 1)")
    for entry in good(result["ways"].get("operators", {"rounds": []})["rounds"]):
        print_shares(entry)


def compare(key, options, save):
    case = CASES[key]
    rounds = {way: [] for way in options.ways}
    with Folder() as folder:
        weights = make_weights(folder, case)
        for _ in range(options.rounds):
            for way in options.ways:
                rounds[way].append(run_way(way, folder, case, weights))
                print(f"{key} {way}: {rounds[way][-1].get('seconds') or rounds[way][-1]['failed'].splitlines()[-1][:100]}", flush=True)
                save(key, summarize(case, rounds))
    result = summarize(case, rounds)
    print_table(case, result)
    return all(good(entries) for entries in rounds.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--json", default="compare_fsdp2.json")
    options = parser.parse_args()
    if not set(options.ways) <= set(WAYS):
        parser.error(f"--ways: one of {', '.join(WAYS)}")
    results = {"machine": need_gpu(), "shardlab": shardlab("version"), "cases": {}}

    def save(key, result):
        results["cases"][key] = result
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(results, stream, indent=1)

    complete = all([compare(key, options, save) for key in options.case or CASES])
    print(f"\nwritten to {options.json}")
    return 0 if complete else 1


if __name__ == "__main__":
    raise SystemExit(main())
