"""Every model family against transformers itself: names and order of parameters, modules and their classes, logits and every gradient
of one batch, and six AdamW steps, on the small models of tests/data/families with random weights, of eager operators also the bytes that
every block keeps; and variants of them (tests/data/model_variants), those with low-rank adapters against peft.

The interpreter with transformers is $SHARDLAB_TRANSFORMERS (scripts/peers_env.sh).
"""
# processors: 1
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, SOURCE, Folder, needed, shardlab

CONFIGS, VARIANTS = SOURCE / "tests/data/families", SOURCE / "tests/data/model_variants"
LENGTH, BATCH = 24, 2  # as in the worker
LIMITS = {"loss": 1e-5, "gradient norm": 1e-4}


def models():
    """By name: the configuration, and what else the scenario says of the model."""
    found = {file.stem: {"config": json.loads(file.read_text()), "model": {}} for file in sorted(CONFIGS.glob("*.json"))}
    for file in sorted(VARIANTS.glob("*.json")):
        variant = json.loads(file.read_text())
        found[file.stem] = {"config": {**found[variant["family"]]["config"], **variant.get("overrides", {})},
                            "model": variant.get("model", {})}
    return found


def scenario(folder, settings):
    spec = {
        "name": folder.name,
        "model": {"config": str(folder / "config.json"), "sequence_length": LENGTH, "weights": str(folder / "weights.safetensors"),
                  **settings},
        "cluster": {"device": "cpu", "ranks": 1, "threads_per_rank": 1},
        "train": {"micro_batch": BATCH, "learning_rate": 1e-3, "betas": [0.9, 0.95], "epsilon": 1e-5, "weight_decay": 0.1,
                  "clip_norm": 1.0, "order": "sequential", "data": str(folder / "tokens.bin")},
        "measure": {"warmup_steps": 1, "steps": 5},
    }
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(spec))
    return file


def compare_structure(folder, answer):
    model = shardlab("model", folder / "scenario.yaml")
    names = [[p["name"], p["shape"]] for module in model["modules"] for p in module["parameters"] if not p["tied"]]
    modules = [[module["path"], module["class"]] for module in model["modules"]]
    for what, ours, theirs in (("parameter", names, answer["parameters"]), ("module", modules, answer["modules"])):
        if ours != theirs:
            differ = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), (len(ours), len(theirs)))
            print(f"{folder.name}: {what}s differ: ours {differ[0]}, transformers' {differ[1]}")
            return False
    trained = model["parameters"]["trainable"]
    if trained != answer["trained"]:
        print(f"{folder.name}: {trained} trained parameters, transformers has {answer['trained']}")
    return trained == answer["trained"]


def worst(ours, theirs):
    if len(ours) != len(theirs) or not theirs:
        return float("inf")
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def compare_training(folder, answer):
    result = shardlab("run", folder / "scenario.yaml", "--db", folder / "runs.db", "--save-weights", folder / "ours.safetensors")
    found = {"loss": worst(result["losses"], answer["losses"]),
             "gradient norm": worst(result["gradient_norms"], answer["gradient_norms"])}
    good = all(found[what] <= LIMITS[what] for what in found)
    words = ", ".join(f"{what} {value:.1e} (limit {LIMITS[what]:.0e})" for what, value in found.items())
    print(f"{folder.name}: {len(answer['losses'])} steps, {answer['losses'][0]:.4f} to {answer['losses'][-1]:.4f}: {words}"
          f"{'' if good else ': FAILED'}", flush=True)
    return good


def compare_tensors(folder):
    """Logits, gradients and trained parameters, element by element: by the test program."""
    program = pathlib.Path(os.environ["SHARDLAB_BUILD"]) / "tests/shardlab_test_torch"
    done = subprocess.run([program, "[.peer]"], env=dict(os.environ, SHARDLAB_PEER_FOLDER=str(folder)))
    return done.returncode == 0


def main():
    needed("SHARDLAB", "SHARDLAB_BUILD", "SHARDLAB_PYTHON", "SHARDLAB_TRANSFORMERS")
    with Folder() as folder:
        specs = models()
        (folder / "models.json").write_text(json.dumps(specs))
        worker = [os.environ["SHARDLAB_TRANSFORMERS"], HERE / "_transformers_worker.py", folder / "models.json", folder]
        subprocess.run([str(part) for part in worker], check=True, timeout=800)
        good = True
        for name, spec in specs.items():
            scenario(folder / name, spec["model"])
            answer = json.loads((folder / name / "answer.json").read_text())
            good &= compare_structure(folder / name, answer) and compare_training(folder / name, answer)
        good &= compare_tensors(folder)
    sys.exit(0 if good else 1)


main()
