"""Programs under the real `accelerate launch` with an exported file, two ranks on processors: a plain loop of accelerate and a Trainer. What
they then have, and the collectives that they make, are those of the scenario that `import` reads out of the same file."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import KINDS, planned
from _peer import HERE, TINY, Folder, first_difference, needed, of_a_day, shardlab

SCENARIO = {
    "model": {"sequence_length": 32},
    "cluster": {"node": "hgx-h100", "nodes": 1, "gpus_per_node": 2},
    "train": {"micro_batch": 2, "accumulation": 2, "learning_rate": 1e-3, "clip_norm": 1.0},
}
BF16 = {"precision": {"param": "bfloat16", "reduce": "bfloat16"}}
CASES = {  # every day the first and the third
    "fsdp2 in 16 bits, a loop": ("loop", {"parallel": {"strategy": "fsdp2"}, **BF16}),
    "fsdp1, a loop": ("loop", {"parallel": {"strategy": "fsdp1", "sharding": "shard_grad_op"}}),
    "fsdp1 in 16 bits, a Trainer": ("trainer", {"parallel": {"strategy": "fsdp1", "sharding": "full_shard"}, **BF16}),
    "fsdp2, a Trainer": ("trainer", {"parallel": {"strategy": "fsdp2", "reshard_after_forward": False}}),
}


def exported(changes, folder):
    """The scenario, the exported file, and what it leaves to the program, by the keys of the scenario."""
    (folder / "config.json").write_text(json.dumps(TINY))
    scenario = {"name": "launched", **SCENARIO, **changes, "model": {**SCENARIO["model"], "config": str(folder / "config.json")}}
    (folder / "scenario.yaml").write_text(json.dumps(scenario))
    export, = shardlab("export", folder / "scenario.yaml", "--to", "accelerate", "--accept", "all", "-o", folder, "--no-prediction")["exports"]
    said = {each["key"]: each["file"] for each in export["differences"] if each["kind"] == "elsewhere"}
    return scenario, folder / export["files"][0]["name"], said


def launched(file, said, who, folder):
    launch = pathlib.Path(os.environ["SHARDLAB_TRANSFORMERS"]).parent / "accelerate"
    environment = dict(os.environ, ACCELERATE_TORCH_DEVICE="cpu", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")
    done = subprocess.run([launch, "launch", "--config_file", file, "--main_process_port", "0", HERE / "_launched_worker.py", json.dumps(said), who,
                           folder / "answer.json"], env=environment, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"accelerate launch ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return json.loads((folder / "answer.json").read_text())


def complaints_about(scenario, read, found):
    """`read`: the scenario that the file stands for."""
    strategy = scenario["parallel"]["strategy"]
    expected = {"type": "FSDP", "version": {"fsdp1": 1, "fsdp2": 2}[strategy], "processes": 2, "accumulation": scenario["train"]["accumulation"],
                "mixed": "bf16" if "precision" in scenario else "no",
                "units": [unit["modules"] for unit in shardlab("plan", read, "--units")["units"]]}
    yield from (f"{key}: the program has {found[key]}, the file stands for {value}" for key, value in expected.items() if found[key] != value)
    if not all(0 < loss < 20 for loss in found["losses"]):
        yield f"losses {found['losses']}"
    for step, made in enumerate(found["collectives"]):
        difference = first_difference(planned(read, step), [call for call in made if call["kind"] in KINDS])
        if difference:
            yield f"step {step}, {difference}"


def main():
    needed("SHARDLAB", "SHARDLAB_TRANSFORMERS")
    failures = 0
    for name, (who, changes) in of_a_day(CASES, 2).items():
        with Folder() as folder:
            scenario, file, said = exported(changes, folder)
            shardlab("import", file, "--onto", folder / "scenario.yaml", "-o", folder / "read.yaml")
            found = launched(file, said, who, folder)
            complaints = list(complaints_about(scenario, folder / "read.yaml", found))
        print(f"{'FAILED' if complaints else 'good  '} {name}: {len(found['units'])} units, {[len(made) for made in found['collectives']]} collectives")
        for complaint in complaints:
            print("       ", complaint)
        failures += bool(complaints)
    sys.exit(1 if failures else 0)


main()
