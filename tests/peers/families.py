"""Every model family against transformers itself: names and order of parameters, modules and their classes, logits and every gradient
of one batch, and six AdamW steps, on the small models of tests/data/families with random weights; of eager operators logits, gradients
and the bytes that every block keeps.

The interpreter with transformers is $SHARDLAB_TRANSFORMERS (scripts/peers_env.sh).
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, SOURCE, Folder, needed, shardlab

CONFIGS = SOURCE / "tests/data/families"
LENGTH, BATCH = 24, 2  # as in the worker
LIMITS = {"loss": 1e-5, "gradient norm": 1e-4, "parameter": 1e-4}


def scenario(folder):
    spec = {
        "name": folder.name,
        "model": {"config": str(folder / "config.json"), "sequence_length": LENGTH, "weights": str(folder / "weights.safetensors")},
        "cluster": {"device": "cpu", "ranks": 1, "threads_per_rank": 1},
        "train": {"micro_batch": BATCH, "learning_rate": 1e-3, "betas": [0.9, 0.95], "epsilon": 1e-5, "weight_decay": 0.1,
                  "clip_norm": 1.0, "order": "sequential", "data": str(folder / "tokens.bin")},
        "measure": {"warmup_steps": 1, "steps": 5},
    }
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(spec))
    return file


def compare_structure(folder, answer):
    model = shardlab("model", folder / "config.json", "--sequence-length", LENGTH)
    names = [[p["name"], p["shape"]] for module in model["modules"] for p in module["parameters"] if not p["tied"]]
    modules = [[module["path"], module["class"]] for module in model["modules"]]
    for what, ours, theirs in (("parameter", names, answer["parameters"]), ("module", modules, answer["modules"])):
        if ours != theirs:
            differ = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), (len(ours), len(theirs)))
            print(f"{folder.name}: {what}s differ: ours {differ[0]}, transformers' {differ[1]}")
            return False
    return True


def worst(ours, theirs):
    if len(ours) != len(theirs) or not theirs:
        return float("inf")
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def compare_training(folder, answer):
    result = shardlab("run", scenario(folder), "--db", folder / "runs.db", "--save-weights", folder / "ours.safetensors")
    found = {"loss": worst(result["losses"], answer["losses"]),
             "gradient norm": worst(result["gradient_norms"], answer["gradient_norms"])}
    good = all(found[what] <= LIMITS[what] for what in found)
    words = ", ".join(f"{what} {value:.1e} (limit {LIMITS[what]:.0e})" for what, value in found.items())
    print(f"{folder.name}: {len(answer['losses'])} steps, {answer['losses'][0]:.4f} to {answer['losses'][-1]:.4f}: {words}"
          f"{'' if good else ': FAILED'}", flush=True)
    return good


def compare_tensors(folder):
    """Logits, gradients and trained parameters, element by element: by the test program, which runs the graph itself."""
    program = pathlib.Path(os.environ["SHARDLAB_BUILD"]) / "tests/shardlab_test_torch"
    done = subprocess.run([program, "[.peer]"], env=dict(os.environ, SHARDLAB_PEER_FOLDER=str(folder)))
    return done.returncode == 0


def main():
    needed("SHARDLAB", "SHARDLAB_BUILD", "SHARDLAB_PYTHON", "SHARDLAB_TRANSFORMERS")
    with Folder() as folder:
        worker = [os.environ["SHARDLAB_TRANSFORMERS"], HERE / "_transformers_worker.py", CONFIGS, folder]
        subprocess.run([str(part) for part in worker], check=True, timeout=800)
        models = sorted(path for path in folder.iterdir() if path.is_dir())
        good = len(models) == len(list(CONFIGS.glob("*.json")))
        for model in models:
            answer = json.loads((model / "answer.json").read_text())
            good &= compare_structure(model, answer) and compare_training(model, answer)
        good &= compare_tensors(folder)
    sys.exit(0 if good else 1)


main()
