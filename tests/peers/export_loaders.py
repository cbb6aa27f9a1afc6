"""Exports of settings drawn at random, read by accelerate's, transformers' and DeepSpeed's own loaders: all accepted, no key unread, and in
effect what the scenario says, or what its differences say instead."""
# processors: 1
import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from _drawn_exports import LAYER, draw, in_effect, nested
from _peer import HERE, Folder, drawn, needed

CASES = drawn(120, 220)


def exported(settings, folder):
    """The answer of `export --json --print`, its files written where it would write them; None for a scenario that contradicts itself."""
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(nested(settings)))
    done = subprocess.run([os.environ["SHARDLAB"], "export", str(file), "--print", "--json", "--no-prediction"], capture_output=True, text=True, timeout=60)
    if done.returncode == 2:
        return None
    if done.returncode not in (0, 1):
        sys.exit(f"export ended with {done.returncode}: {done.stdout}{done.stderr}")
    answer = json.loads(done.stdout)
    for export in answer["exports"]:
        for each in export["files"]:
            (folder / each["name"]).write_text(each["text"])
    return answer


POLICY = {"transformer": "transformer_auto_wrap_policy", "module": "transformer_auto_wrap_policy", "size": "size_based_auto_wrap_policy", "none": None}
PREFETCH = {"pre": "BACKWARD_PRE", "post": "BACKWARD_POST", "none": None}


def expected_plugin(s, given):
    """What the plugin has to hold for these settings; `given` as drawn, whose policy the file names before accelerate adds to it."""
    v2 = s["parallel.strategy"] == "fsdp2"
    dtype = f"torch.{s['precision.param']}" if "precision.param" in s else None
    policy = given["parallel.wrap.policy"]
    values = {"version": 2 if v2 else 1, "policy": POLICY[policy], "offload": s.get("offload.parameters", "none") == "cpu", "param": dtype,
              "reduce": f"torch.{s['precision.reduce']}" if dtype else None,
              "limit": s.get("parallel.prefetch.limit_all_gathers", True) in (True, "true"),
              "checkpointing": s.get("activation.checkpoint", "none") != "none", "state_dict": s["checkpoint.type"].upper() + "_STATE_DICT",
              "one_rank_loads": True}
    if policy in ("transformer", "module"):
        values["classes"] = [LAYER[s["model.config"]]]
    if policy == "size":
        values["min_params"] = s["parallel.wrap.min_params"]
    if v2:
        values["reshard"] = str(s.get("parallel.reshard_after_forward", "default")) not in ("False", "false")
    else:
        values |= {"sharding": s["parallel.sharding"].upper().replace("HYBRID_SHARD_ZERO2", "_HYBRID_SHARD_ZERO2"),
                   "prefetch": PREFETCH[s["parallel.prefetch.backward"]], "forward_prefetch": s["parallel.prefetch.forward"],
                   "use_orig_params": s["parallel.use_orig_params"]}
    return values


def same(a, b):
    """Loaders give numbers and booleans as such or as text."""
    try:
        return float(a) == float(b)
    except (TypeError, ValueError):
        return str(a) == str(b)


def unequal(expected, found, what):
    return [f"{what} {key}: {found.get(key)!r}, the scenario says {value!r}" for key, value in expected.items() if not same(found.get(key), value)]


def check_accelerate(given, s, found):
    kind = {"ddp": "MULTI_GPU", "fsdp1": "FSDP", "fsdp2": "FSDP"}.get(s["parallel.strategy"], "DEEPSPEED")
    complaints = unequal({"type": kind, "machines": s["cluster.nodes"], "processes": 8 * s["cluster.nodes"], "unread": []}, found, "accelerate")
    if kind == "FSDP":
        complaints += unequal(expected_plugin(s, given), found["plugin"], "accelerate")
        replicas = s.get("parallel.mesh.replicate", 1)
        if s["parallel.strategy"] == "fsdp2" and replicas > 1:
            complaints += unequal({"mesh": [replicas, 8 * s["cluster.nodes"] // replicas]}, found, "accelerate")
    return complaints


def check_deepspeed(given, s, found):
    zero = s["parallel.zero"]
    offload = {f"offload_{what}": ("cpu", True) for what, key in (("param", "offload.parameters"), ("optimizer", "offload.optimizer")) if s.get(key) == "cpu"}
    expected = {"unread": [], "stage": int(s["parallel.strategy"][-1]), "micro_batch": s["train.micro_batch"], "accumulation": s["train.accumulation"],
                "clip": float(s.get("train.clip_norm", 0)), "bf16": s.get("precision.param") == "bfloat16", "fp16": False}
    complaints = unequal(expected, found, "deepspeed")
    for key, value in zero.items():
        held = found["stage3" if key.startswith("stage3_") else "zero"].get(key)
        if held != value:
            complaints.append(f"deepspeed {key}: {held!r}, the scenario says {value!r}")
    if {key: tuple(value) for key, value in found["offload"].items()} != offload:
        complaints.append(f"deepspeed offload: {found['offload']}, the scenario says {offload}")
    return complaints


def unequal_checkpoints(s, said):
    """The Trainer takes these out of the dictionary and passes them on by name."""
    expected = {"use_reentrant": s.get("activation.reentrant", False) in (True, "true")}
    if "activation_checkpointing_kwargs" in said:
        expected |= {"every_n_layers": 2} if str(s.get("activation.every", 1)) == "2" else {}
        expected |= {"offload": True} if s.get("activation.offload", "none") == "cpu" else {}
    held = said.get("activation_checkpointing_kwargs", said.get("gradient_checkpointing_kwargs"))
    return [] if held == str(expected) else [f"transformers checkpoints: {held}, the scenario says {expected}"]


def check_transformers(given, s, found):
    deepspeed = s["parallel.strategy"].startswith("zero")
    mixed = "precision.param" in s
    expected = {"per_device_train_batch_size": s["train.micro_batch"], "gradient_accumulation_steps": s["train.accumulation"],
                "max_grad_norm": float(s.get("train.clip_norm", 0)), "bf16": mixed, "fp16": False}
    complaints = unequal(expected, found["said"], "transformers")
    if s["parallel.strategy"] == "ddp" and "activation.checkpoint" in s:
        complaints += unequal_checkpoints(s, found["said"])
    if not deepspeed and s["parallel.strategy"] != "ddp":
        complaints += unequal(expected_plugin(s, given), found["plugin"], "transformers")
    return complaints


CHECKS = {"accelerate.yaml": check_accelerate, "deepspeed.json": check_deepspeed, "training_args.json": check_transformers,
          "training_args_4.json": check_transformers}


OF_4 = "training_args_4.json"


def packages_of_4():
    """The folder with transformers 4.57, which scripts/peers_env.sh makes beside the others; None where it is not."""
    folder = pathlib.Path(os.environ["SHARDLAB_TRANSFORMERS"]).parent.parent / "transformers-4"
    return folder if folder.exists() else None


def loaded(cases, packages):
    """What the tools' loaders say of the files, those of another folder of packages where one is named."""
    environment = dict(os.environ, DS_ACCELERATOR="cpu", HF_HUB_OFFLINE="1") | ({"PYTHONPATH": str(packages)} if packages else {})
    done = subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-W", "ignore", str(HERE / "_export_loaders_worker.py")],
                          input=json.dumps([{key: case[key] for key in ("kind", "file", "environment")} for case in cases]),
                          capture_output=True, text=True, timeout=1000, env=environment)
    if done.returncode != 0:
        sys.exit(f"the loaders failed:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout)


def variables_of(export):
    """What the lines for the shell set."""
    lines = [d["file"] for d in export["differences"] if d["kind"] == "elsewhere" and d["file"].startswith("export ")]
    return {key: value.strip("'") for line in lines for key, _, value in [line.removeprefix("export ").partition("=")]}


def main():
    needed("SHARDLAB_TRANSFORMERS")
    generator = random.Random(int(os.environ.get("SHARDLAB_SEED", 20)))
    cases, drawn = [], 0
    with Folder() as folder:
        while len({case["number"] for case in cases}) < CASES:
            drawn += 1
            settings = draw(generator.choice)
            place = folder / str(drawn)
            place.mkdir()
            answer = exported(settings, place)
            if answer is None:
                continue
            for export in answer["exports"]:
                for file in export["files"]:
                    kind = next((known for known in CHECKS if file["name"].endswith(known)), None)
                    if kind and not any(c["number"] == drawn and c["kind"] == kind for c in cases):
                        cases.append({"number": drawn, "kind": kind, "file": str(place / file["name"]), "settings": settings,
                                      "export": export, "environment": variables_of(export)})
        answers = {}
        for kinds, folder_of_4 in ((CHECKS.keys() - {OF_4}, None), ({OF_4}, packages_of_4())):
            asked = [case for case in cases if case["kind"] in kinds]
            if asked and not (kinds == {OF_4} and folder_of_4 is None):
                answers |= {case["file"]: answer for case, answer in zip(asked, loaded(asked, folder_of_4))}
    bad = 0
    for case in (case for case in cases if case["file"] in answers):
        found = answers[case["file"]]
        if "error" in found:
            complaints = [found["error"]]
        else:
            complaints = CHECKS[case["kind"]](case["settings"], in_effect(case["settings"], case["export"]), found)
        if complaints:
            bad += 1
            print(f"FAILED {case['kind']}: {json.dumps(case['settings'])}")
            for complaint in complaints:
                print("       ", complaint)
    by_kind = {kind: sum(case["kind"] == kind and case["file"] in answers for case in cases) for kind in CHECKS}
    print(f"{len({case['number'] for case in cases})} scenarios of {drawn} drawn, files {by_kind}: {bad} with complaints")
    sys.exit(1 if bad else 0)


main()
