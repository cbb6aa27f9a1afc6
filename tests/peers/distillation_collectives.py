"""Distillation under Python's fully_shard, live: the collectives of our plan (kind, bytes, dtype, group size, order; of the first, the
second and the third step) and the losses of our run are those of the loop in which a frozen teacher runs under no_grad before the
student."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder, first_difference, make_all_weights, needed, python_cases, shardlab, training, write_scenario

COLLECTIVES = {"AllGather", "ReduceScatter", "AllReduce", "Broadcast", "AllToAll", "Reduce"}
EXACT, ROUNDED = 1e-5, 2e-2  # relative, of losses: float32, bfloat16
TEACHER = {"config": {"hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 3, "num_attention_heads": 6},
           "strategy": "fsdp2", "sharding": "full_shard", "reshard": "default", "dtype": "float32", "param": None, "weights": None}


def case(teacher=None, temperature=2.0, weight=0.7, **student):
    spec = training(steps=5, record=[0, 1, 2], **student)
    spec.update(temperature=temperature, weight=weight)
    config = {**spec["config"], **TEACHER["config"], **(teacher or {}).get("config", {})}
    spec["teacher"] = {**TEACHER, **(teacher or {}), "config": config}
    return spec


CASES = {
    "default": case(),
    "teacher resharded with its root": case({"reshard": "true"}),
    "teacher not resharded": case({"reshard": "false"}),
    "teacher whole on every rank": case({"strategy": "none"}),
    "teacher under FSDP1": case({"strategy": "fsdp1"}),
    "teacher under FSDP1, gathered for good, two micro-batches": case({"strategy": "fsdp1", "sharding": "shard_grad_op"}, accumulation=2),
    "teacher under FSDP1, cast": case({"strategy": "fsdp1", "param": "bfloat16"}, accumulation=2),
    "two micro-batches": case(accumulation=2),
    "two micro-batches, each reduced, teacher resharded": case({"reshard": "true"}, accumulation=2, sync="every", reshard="false"),
    "teacher stored in bfloat16": case({"dtype": "bfloat16"}),
    "student in bfloat16, teacher cast": case({"param": "bfloat16"}, param="bfloat16"),
    "only the teacher's loss, no clipping": case(weight=1.0, temperature=4.0, clip_norm=None),
    "4 ranks, teacher kept over pairs": case({"reshard": "2"}, ranks=4, micro_batch=1),
    "4 ranks, teacher kept over pairs, two micro-batches": case({"reshard": "2"}, ranks=4, micro_batch=1, accumulation=2),
}


def scenario_of(name, spec, folder):
    place = folder / name.replace(" ", "-").replace(",", "")
    place.mkdir()
    teacher = spec["teacher"]
    spec["weights"], teacher["weights"] = str(place / "student.safetensors"), str(place / "teacher.safetensors")
    (place / "teacher.json").write_text(json.dumps(teacher["config"]))
    file = write_scenario(spec, place)
    scenario = json.loads(file.read_text())
    parallel = {"strategy": teacher["strategy"]}
    if teacher["strategy"] == "fsdp1":
        parallel["sharding"] = teacher["sharding"]
    if teacher["reshard"] != "default":
        parallel["reshard_after_forward"] = json.loads(teacher["reshard"])
    scenario["distillation"] = {
        "teacher": {"config": str(place / "teacher.json"), "weights": teacher["weights"], "dtype": teacher["dtype"], "parallel": parallel},
        "temperature": spec["temperature"], "weight": spec["weight"]}
    if teacher["param"]:
        scenario["distillation"]["teacher"]["precision"] = {"param": teacher["param"]}
    file.write_text(json.dumps(scenario, indent=1))
    return file


def planned(scenario, step):
    plan = shardlab("plan", scenario, "--step", str(step))
    return [{"kind": i["kind"], "bytes": i["bytes"], "dtype": i["dtype"], "ranks": len(i["group"])}
            for i in plan["instructions"] if i["kind"] in COLLECTIVES]


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    failures = 0
    with Folder() as folder:
        scenarios = {name: scenario_of(name, spec, folder) for name, spec in CASES.items()}
        make_all_weights([(model["config"], model["weights"], seed) for spec in CASES.values()
                          for model, seed in ((spec, 7), (spec["teacher"], 8))])
        made = python_cases(CASES, folder, "_distillation_worker.py")
        for name, spec in CASES.items():
            for step in spec["record"]:
                recorded = made[name]["collectives"][str(step)]
                difference = first_difference(planned(scenarios[name], step), recorded)
                failures += difference is not None or not recorded
                print(f"{name}, step {step}: {len(recorded)} collectives: {difference or 'equal'}")
            ours = shardlab("run", scenarios[name], "--db", str(scenarios[name].parent / "runs.db"))["losses"]
            worst = max(abs(a - b) / abs(b) for a, b in zip(ours, made[name]["losses"]))
            rounded = "bfloat16" in (spec["param"], spec["teacher"]["dtype"], spec["teacher"]["param"])
            good = len(ours) == spec["steps"] and worst <= (ROUNDED if rounded else EXACT)
            failures += not good
            print(f"{name}: losses {ours[0]:.4f} to {ours[-1]:.4f}, largest difference {worst:.1e}{'' if good else ': FAILED'}", flush=True)
    sys.exit(1 if failures else 0)


main()
