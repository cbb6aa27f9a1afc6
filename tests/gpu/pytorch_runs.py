"""PyTorch itself on one GPU: programs that `shardlab export` writes for the scenarios below, beside what `shardlab simulate` says of them. Peaks of
allocated and reserved bytes, the memory outside the allocator, and, of one rank, the step.

Those for several ranks run as rank 0 of a group without peers (_exported_on_gpu.py). argv: the folder for a file of each, then names of cases (all).
"""
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys

from _gpu import HERE, REHEARSE, TEXT, Folder, cluster, need_gpu, shardlab

MIXED = {"param": "bfloat16", "reduce": "float32"}
#  name: model, ranks, sequence length, micro-batch, parallel, other sections
CASES = {
    "llama-1b": ("llama-3.2-1b", 1, 4096, 4, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "qwen3-0.6b": ("qwen3-0.6b", 1, 4096, 4, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "llama-8b": ("llama-3-8b", 8, 4096, 1, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "llama-8b-checkpointed": ("llama-3-8b", 8, 8192, 2, {"strategy": "fsdp2"}, {"precision": MIXED, "activation": {"checkpoint": "full"}}),
    "llama-8b-fsdp1": ("llama-3-8b", 8, 4096, 1, {"strategy": "fsdp1"}, {"precision": MIXED}),
    "llama-1b-ddp-autocast": ("llama-3.2-1b", 8, 2048, 4, {"strategy": "ddp"}, {"precision": {"autocast": "bfloat16"}}),
    "gpt2-xl-fsdp2": ("gpt2-xl", 8, 1024, 8, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "gemma-2-2b": ("gemma-2-2b", 8, 4096, 1, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "gemma-7b": ("gemma-7b", 8, 4096, 1, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "mistral-7b-shard-grad-op": ("mistral-7b", 8, 4096, 2, {"strategy": "fsdp1", "sharding": "shard_grad_op"},
                                 {"precision": MIXED, "activation": {"checkpoint": "full"}}),
    "qwen3-8b-kept": ("qwen3-8b", 8, 4096, 1, {"strategy": "fsdp2", "reshard_after_forward": False}, {"precision": MIXED, "train": {"accumulation": 2}}),
    "phi-2": ("phi-2", 8, 2048, 4, {"strategy": "fsdp2"}, {"precision": MIXED}),
    "llama-3b-checkpointed": ("llama-3.2-3b", 1, 4096, 4, {"strategy": "fsdp2"}, {"precision": MIXED, "activation": {"checkpoint": "full"}}),
    "qwen3-30b-a3b": ("qwen3-30b-a3b", 16, 2048, 1, {"strategy": "fsdp2"}, {"precision": MIXED, "activation": {"checkpoint": "full"}}),
    "llama-8b-offload": ("llama-3-8b", 8, 4096, 1, {"strategy": "fsdp2"}, {"precision": MIXED, "offload": {"parameters": "cpu"}}),
    "llama-70b": ("llama-3.1-70b", 64, 4096, 1, {"strategy": "fsdp2"}, {"precision": MIXED, "activation": {"checkpoint": "full"}}),
}
FEW_STEPS = {"llama-70b": 3, "llama-8b-offload": 3, "qwen3-30b-a3b": 4}
STEPS = 7


def scenario_of(name):
    model, ranks, sequence, micro_batch, parallel, more = CASES[name]
    content = {"name": name, "model": {"config": model, "sequence_length": sequence}, "parallel": parallel,
               "train": {"micro_batch": micro_batch, "learning_rate": 1e-5, "clip_norm": 1.0, "data": str(TEXT)}}
    for key, value in more.items():
        content[key] = {**content.get(key, {}), **value}
    gpus = min(ranks, 8)
    content["cluster"] = {**cluster(gpus), **({"nodes": ranks // gpus, "inter_node_gbps_per_gpu": 400} if ranks > gpus else {})}
    return content


def export(folder, names):
    cases = []
    for name in names:
        try:
            file = folder / f"{name}.yaml"
            file.write_text(json.dumps(scenario_of(name), indent=1))
            shardlab("export", file, "--to", "script", "-o", folder, "--no-prediction")
            cases.append({"name": name, "scenario": scenario_of(name), "program": str(folder / f"{name}.train.py"), "ranks": CASES[name][1],
                          "steps": FEW_STEPS.get(name, STEPS)})
        except Exception as error:  # pylint: disable=broad-except
            print(f"{name}: not exported: {error}", flush=True)
    return cases


def row(name, folder, answers):
    predicted = shardlab("simulate", folder / f"{name}.yaml", "--no-store")
    file = answers / f"{name}.json.gz"
    if not file.exists():
        return f"{name:26} nothing measured"
    with gzip.open(file, "rt") as stream:
        run = json.load(stream)
    if "out_of_memory" in run:
        return f"{name:26} out of memory: {run['out_of_memory'][:80]}"
    last = run["steps"][2:] or run["steps"][-1:]
    peak = lambda figure: max(step["peak"][figure] for step in last)
    words = [f"{name:26}"]
    for figure, mine in (("allocated_bytes", "peak_allocated"), ("reserved_bytes", "peak_reserved")):
        said = predicted["memory"].get(mine) or 0
        words.append(f"{peak(figure) / 2**30:8.2f} {said / 2**30:8.2f} {said / peak(figure) - 1:+7.1%}")
    step, said = statistics.median(each["seconds"] for each in last), predicted["step_time_ns"]["median"] / 1e9
    words.append(f"{step * 1e3:9.1f} {said * 1e3:9.1f} {said / step - 1:+7.1%}{'' if run['ranks'] == 1 else ' (with communication)'}")
    return " ".join(words)


def main():
    need_gpu()
    answers = pathlib.Path(sys.argv[1] if sys.argv[1:] else "pytorch_runs").resolve()
    answers.mkdir(parents=True, exist_ok=True)
    if unknown := set(sys.argv[2:]) - set(CASES):
        sys.exit(f"no case is called {' or '.join(sorted(unknown))}: {', '.join(CASES)}")
    with Folder() as folder:
        cases = export(folder, sys.argv[2:] or CASES)
        (folder / "cases.json").write_text(json.dumps(cases))
        done = None
        if not REHEARSE:
            done = subprocess.run([os.environ["SHARDLAB_PYTHON"], str(HERE / "_exported_on_gpu.py"), str(folder / "cases.json"), str(answers)], check=False)
        print(f"\n{'':26} {'allocated, GiB: run, said':>25} {'reserved: run, said':>25} {'step, ms: run, said':>27}", flush=True)
        for case in cases:
            print(row(case["name"], folder, answers), flush=True)
    sys.exit(done.returncode if done else 0)


main()
