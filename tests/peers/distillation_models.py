"""Distillation between transformers' own models in a plain loop: losses of six AdamW steps, every gradient of the first batch and every
trained parameter of the student, for teachers of the same and of another family.

The interpreter with transformers is $SHARDLAB_TRANSFORMERS (scripts/peers_env.sh).
"""
import array
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, SOURCE, Folder, needed, shardlab

LENGTH, BATCH, STEPS = 24, 2, 6  # as in the worker
LIMITS = {"loss": 1e-5, "gradient": 1e-4, "trained parameter": 1e-4}
PAIRS = [("llama", "qwen3_moe", 2.0, 0.7), ("qwen3_moe", "qwen3_moe", 1.0, 1.0), ("gpt2", "llama", 4.0, 0.5), ("gemma2", "gpt2", 0.5, 0.3)]
ADAMW = {"optimizer": "adamw", "learning_rate": 1e-3, "betas": [0.9, 0.95], "epsilon": 1e-5, "weight_decay": 0.1}
# One step of this takes the gradient off the weights; the second has no learning rate.
RATE = 30.0  # so that the weights, from which the difference is taken, round it little
GRADIENT = {"optimizer": "sgd", "learning_rate": RATE, "weight_decay": 0.0, "schedule": {"kind": "linear", "total_steps": 1}}


def config(family):
    return json.loads((SOURCE / f"tests/data/families/{family}.json").read_text())


def specifications():
    return [{"student": config(student), "teacher": config(teacher), "temperature": temperature, "weight": weight}
            for student, teacher, temperature, weight in PAIRS]


def read_tensors(path):
    """Name to numbers, of float32 tensors."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = array.array("f", data[begin:end])
    return tensors


def run(folder, spec, train, steps, save):
    scenario = {
        "name": folder.name,
        "model": {"config": str(folder / "student.json"), "sequence_length": LENGTH, "weights": str(folder / "student.safetensors")},
        "distillation": {"teacher": {"config": str(folder / "teacher.json"), "weights": str(folder / "teacher.safetensors")},
                         "temperature": spec["temperature"], "weight": spec["weight"]},
        "cluster": {"device": "cpu", "ranks": 1, "threads_per_rank": 1},
        "train": {"micro_batch": BATCH, "order": "sequential", "data": str(folder / "tokens.bin"), **train},
        "measure": {"warmup_steps": 1, "steps": steps - 1},
    }
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(scenario))
    return shardlab("run", file, "--db", folder / "runs.db", "--save-weights", save)["losses"]


def worst(ours, theirs):
    """Of all tensors the largest difference, in parts of the tensor's largest element; gradients that are nothing but rounding count
    in parts of the largest of all."""
    if set(ours) != set(theirs):
        return float("inf")
    largest = max(max(map(abs, values)) for values in theirs.values())
    differences = [max(abs(a - b) for a, b in zip(ours[name], values)) / max(max(map(abs, values)), 1e-5 * largest)
                   for name, values in theirs.items()]
    return max(differences)


def compare(folder, spec):
    answer = json.loads((folder / "answer.json").read_text())
    losses = run(folder, spec, ADAMW, STEPS, folder / "ours.safetensors")
    found = {"loss": max(abs(a - b) / abs(b) for a, b in zip(losses, answer["losses"])),
             "trained parameter": worst(read_tensors(folder / "ours.safetensors"), read_tensors(folder / "trained.safetensors"))}
    run(folder, spec, GRADIENT, 2, folder / "moved.safetensors")
    before, after = read_tensors(folder / "student.safetensors"), read_tensors(folder / "moved.safetensors")
    gradients = {name: [(a - b) / RATE for a, b in zip(before[name], after[name])] for name in before}
    found["gradient"] = worst(gradients, read_tensors(folder / "gradients.safetensors"))
    good = len(losses) == STEPS == len(answer["losses"]) and all(found[what] <= LIMITS[what] for what in found)
    words = ", ".join(f"{what} {value:.1e} (limit {LIMITS[what]:.0e})" for what, value in found.items())
    print(f"{spec['student']['model_type']} from {spec['teacher']['model_type']}, T {spec['temperature']}, w {spec['weight']}: "
          f"{losses[0]:.4f} to {losses[-1]:.4f}: {words}{'' if good else ': FAILED'}", flush=True)
    return good


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON", "SHARDLAB_TRANSFORMERS")
    good = True
    with Folder() as folder:
        specs = specifications()
        (folder / "specs.json").write_text(json.dumps(specs))
        worker = [os.environ["SHARDLAB_TRANSFORMERS"], HERE / "_distillation_transformers_worker.py", folder / "specs.json", folder]
        subprocess.run([str(part) for part in worker], check=True, timeout=800)
        for index, spec in enumerate(specs):
            good &= compare(folder / str(index), spec)
    sys.exit(0 if good else 1)


main()
