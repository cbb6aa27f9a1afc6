"""Runs the same training twice: by shardlab and by Python's own PyTorch. Standard library only; torch lives in $SHARDLAB_PYTHON."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("SHARDLAB_SOURCE", HERE.parent.parent))
TEXT = SOURCE / "assets/data/licenses.txt"
SKIP = 77


def drawn(every_day, nightly):
    """How many settings a test draws: $SHARDLAB_CASES; with $SHARDLAB_NIGHTLY as many as a night has time for."""
    return int(os.environ.get("SHARDLAB_CASES") or (nightly if os.environ.get("SHARDLAB_NIGHTLY") else every_day))


def of_a_day(cases, every):
    """Of a dictionary every `every`-th; with $SHARDLAB_NIGHTLY all."""
    return {name: cases[name] for name in list(cases)[::1 if os.environ.get("SHARDLAB_NIGHTLY") else every]}


TINY = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 176,
        "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256,
        "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
        "initializer_range": 0.02, "tie_word_embeddings": False}

TRAINING = {"config": TINY, "ranks": 2, "threads": 1, "sequence_length": 32, "micro_batch": 2, "accumulation": 1, "sync": "last",
            "reshard": "default", "root_reshard": None, "together": None, "together_reshard": None, "param": "float32", "reduce": "float32", "units": None, "steps": 2, "learning_rate": 1e-3, "clip_norm": 1.0,
            "optimizer": {"optimizer": "adamw"}, "scaler": None, "offload": False, "weights": None, "save_weights": None, "text": str(TEXT), "record": []}


def training(**changes):
    """A training as a dictionary; `config` changes single fields of the model. `root_reshard`: what fully_shard(model) itself is given.
    `together`: paths of modules that are one unit, `together_reshard`: what this one is given.
    `units`: the classes that become units, each with what
    its mixed precision has otherwise (param, reduce, output, cast: by the scenario's names)."""
    spec = copy.deepcopy(TRAINING)
    spec["config"].update(changes.pop("config", {}))
    spec.update(changes)
    return spec


def needed(*variables):
    """Ends the test as skipped unless these environment variables are set."""
    for name in variables:
        if not os.environ.get(name) or not pathlib.Path(os.environ[name]).exists():
            print(f"skipped: {name} is not set or names nothing")
            sys.exit(SKIP)


class Folder(tempfile.TemporaryDirectory):
    def __enter__(self):
        return pathlib.Path(super().__enter__())


PRECISION = {"param": "precision.param", "reduce": "precision.reduce", "output": "precision.output",
             "cast": "precision.cast_forward_inputs"}


def wrap_of(units):
    overrides = [{"match": {"class": name}, "settings": {PRECISION[key]: value for key, value in policy.items()}}
                 for name, policy in units.items() if policy]
    return {"policy": "module", "classes": [name for name in units if name != "LlamaForCausalLM"], "overrides": overrides}


def write_scenario(spec, folder):
    config = folder / "config.json"
    config.write_text(json.dumps(spec["config"]))
    scenario = {
        "name": "peer",
        "model": {"config": str(config), "sequence_length": spec["sequence_length"]},
        "cluster": {"device": "cpu", "ranks": spec["ranks"], "threads_per_rank": spec["threads"]},
        "parallel": {"strategy": "fsdp2", "reshard_after_forward": spec["reshard"]},
        "train": {"micro_batch": spec["micro_batch"], "accumulation": spec["accumulation"], "sync": spec["sync"],
                  "learning_rate": spec["learning_rate"], "order": "sequential", "data": spec["text"], **spec["optimizer"]},
        "measure": {"warmup_steps": min(2, spec["steps"] - 1), "steps": spec["steps"] - min(2, spec["steps"] - 1)},
    }
    if spec["weights"]:
        scenario["model"]["weights"] = str(spec["weights"])
    if spec["param"] != "float32":
        scenario["precision"] = {"param": spec["param"], "reduce": spec["reduce"]}
    wrap = scenario["parallel"]["wrap"] = wrap_of(spec["units"]) if spec["units"] else {"overrides": []}
    if spec["together"]:
        wrap["together"] = [spec["together"]]
    if spec["together_reshard"] is not None:
        wrap["overrides"].append({"match": {"path": spec["together"][0]}, "settings": {"reshard_after_forward": spec["together_reshard"]}})
    if spec["root_reshard"] is not None:
        wrap["overrides"].append({"match": {"class": "LlamaForCausalLM"}, "settings": {"reshard_after_forward": spec["root_reshard"]}})
    if spec["scaler"]:
        scenario["scaler"] = spec["scaler"]
    if spec["offload"]:
        scenario["offload"] = {"parameters": "cpu"}
    if spec["clip_norm"] is not None:
        scenario["train"]["clip_norm"] = spec["clip_norm"]
    if spec["reshard"] != "default":
        scenario["parallel"]["reshard_after_forward"] = json.loads(spec["reshard"])
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(scenario, indent=1))  # JSON is YAML
    return file


def shardlab(*arguments):
    """The parsed --json of a command. Ends the test with the command's own words when it fails."""
    command = [os.environ["SHARDLAB"], *map(str, arguments), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def python_fsdp2(specs, folder, worker="_fsdp2_worker.py"):
    """Trains each with fully_shard, one after the other in the same processes, one a rank; what rank 0 answered, in the same order.
    All must want the same number of ranks and threads."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (folder / "specs.json").write_text(json.dumps(specs, default=str))
    world, threads = specs[0]["ranks"], specs[0]["threads"]
    ranks = []
    for rank in range(world):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(world), OMP_NUM_THREADS=str(threads))
        ranks.append(subprocess.Popen([os.environ["SHARDLAB_PYTHON"], str(HERE / worker), str(folder / "specs.json"),
                                       str(folder)], env=environment))
    codes = [rank.wait(timeout=800) for rank in ranks]
    if any(codes):
        sys.exit(f"Python's FSDP2 failed: exit codes {codes}")
    return json.loads((folder / "answer.json").read_text())


def python_cases(cases, folder, worker):
    """The same for a dictionary of trainings of any size: one set of processes for each number of ranks."""
    answers = {}
    for world in sorted({spec["ranks"] for spec in cases.values()}):
        names = [name for name, spec in cases.items() if spec["ranks"] == world]
        answers.update(zip(names, python_fsdp2([cases[name] for name in names], folder, worker)))
    return answers


def python_fsdp2_cases(cases, folder):
    return python_cases(cases, folder, "_fsdp2_worker.py")


def make_weights(spec, file, seed=7):
    """Random weights of the model as safetensors, with those of spec["lora"] where it has some."""
    program = ("import json, sys; from _llama import adapted_weights, random_weights, write_safetensors\n"
               "spec, seed = json.loads(sys.argv[1]), int(sys.argv[3]); weights = random_weights(spec['config'], seed)\n"
               "write_safetensors(sys.argv[2], adapted_weights(weights, spec['lora'], seed) if spec['lora'] else weights)")
    told = json.dumps({"config": spec["config"], "lora": spec.get("lora")})
    subprocess.run([os.environ["SHARDLAB_PYTHON"], "-c", program, told, str(file), str(seed)], check=True, cwd=HERE)
    return file


def make_weights_of_transformers(config, file, seed=7):
    """Random weights of a model that transformers builds, under the names of its parameters."""
    program = ("import json, sys; from _transformers_worker import random_model; from safetensors.torch import save_file\n"
               "model = random_model(json.loads(sys.argv[1]), int(sys.argv[3]))\n"
               "save_file({name: each.detach().contiguous() for name, each in model.named_parameters()}, sys.argv[2])")
    subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-W", "ignore", "-c", program, json.dumps(config), str(file), str(seed)], check=True, cwd=HERE)
    return file


def make_all_weights(jobs):
    """The same for a list of (configuration, file, seed), in one process."""
    program = ("import json, sys; from _llama import random_weights, write_safetensors\n"
               "for config, file, seed in json.loads(sys.argv[1]): write_safetensors(file, random_weights(config, seed))")
    subprocess.run([os.environ["SHARDLAB_PYTHON"], "-c", program, json.dumps(jobs)], check=True, cwd=HERE)


def _text(call):
    if not call:
        return "-"
    text = call["kind"] + (f" {call['bytes']} B {call['dtype']} over {call['ranks']}" if "bytes" in call else "")
    return text + (f" with {call['gathered']} B gathered" if "gathered" in call else "")


def first_difference(ours, theirs):
    """Of two lists of collectives, in words; none when they are equal."""
    for index in range(max(len(ours), len(theirs))):
        mine = ours[index] if index < len(ours) else None
        other = theirs[index] if index < len(theirs) else None
        if mine != other:
            return f"collective {index}: planned {_text(mine)}, PyTorch made {_text(other)}"
    return None
