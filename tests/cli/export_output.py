"""`shardlab export`: what is written, what is refused, what a shell and torchrun's own parser make of the scripts."""
# processors: 1
import ast
import builtins
import json
import os
import stat
import subprocess

from _shardlab import SOURCE, WITH_TORCH, Place, check, main

GPUS = """name: eight
model: {{config: llama-3.2-1b, sequence_length: 512}}
cluster: {{node: hgx-h100, nodes: {nodes}}}
parallel: {{strategy: {strategy}}}
precision: {{param: bfloat16{reduce}}}
train: {{micro_batch: 1, clip_norm: 1.0}}
launch: {{env: {{NCCL_DEBUG: "it's on"}}}}
"""


def scenario(place, strategy="fsdp2", nodes=1, reduce=""):
    return place.scenario(text=GPUS.format(strategy=strategy, nodes=nodes, reduce=reduce))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_all_targets():
    place = Place()
    out = place.path / "out"
    done = place.run("export", scenario(place), "-o", out)
    check(done.code == 0, done)
    check(names(out) == ["eight.accelerate.yaml", "eight.sbatch", "eight.torchrun.sh", "eight.train.py", "eight.training_args.json"], names(out))
    check("deepspeed 0.19: not for this scenario" in done.out, done)
    again = place.run("export", scenario(place), "-o", out)
    check(again.code == 2 and "exists already" in again.err and "--force" in again.err, again)
    before = {path.name: path.read_text() for path in out.iterdir()}
    forced = place.run("export", scenario(place), "-o", out, "--force")
    check(forced.code == 0 and before == {path.name: path.read_text() for path in out.iterdir()}, forced)


def test_what_is_lost_is_not_written():
    place = Place()
    out = place.path / "out"
    file = scenario(place, reduce=", reduce: float32")
    done = place.run("export", file, "--to", "accelerate", "-o", out, "--json")
    answer = done.json()
    check(done.code == 1 and not answer["written"] and answer["lost"] == ["precision.reduce"], done)
    check(not out.exists(), names(place.path))
    lost = [d for d in answer["exports"][0]["differences"] if d["kind"] == "lost"]
    check([(d["key"], d["scenario"], d["file"]) for d in lost] == [("precision.reduce", "float32", "bfloat16")], lost)
    check(lost[0]["effect"]["step_time_ns"] > 0 and lost[0]["effect"]["peak_allocated"] > 0, lost)
    check(answer["exports"][0]["run"] != answer["exports"][0]["scenario"], answer)
    accepted = place.run("export", file, "--to", "accelerate", "-o", out, "--accept", "precision.reduce")
    check(accepted.code == 0 and names(out) == ["eight.accelerate.yaml"], accepted)
    # What is predicted of the file is what simulate says of the scenario with its differences.
    overrides = [part for d in answer["exports"][0]["differences"] if d["kind"] != "elsewhere" and d["key"] not in answer["exports"][0]["unpredicted"]
                 for part in ("--set", f"{d['key']}={d['file']}")]
    simulated = place.run("simulate", file, *overrides, "--json", "--no-store").json()
    check(simulated["step_time_ns"]["median"] == answer["exports"][0]["run"]["step_time_ns"], (simulated["step_time_ns"], answer["exports"][0]["run"]))


def test_programs_load_what_transformers_finds():
    """The line that makes the model, as it is pasted: a name of the Hub, or a path that is there."""
    place = Place()
    shape = place.path / "mine/config.json"
    shape.parent.mkdir()
    shape.write_text((SOURCE / "assets/models/tiny-llama/config.json").read_text())
    shape.with_name("model.safetensors").write_text("")
    loads = {"llama-3.2-1b": "meta-llama/Llama-3.2-1B", "qwen/qwen3-0.6b-base": "Qwen/Qwen3-0.6B-Base",
             "tiny-llama": str(SOURCE / "assets/models/tiny-llama"), "mine": str(shape.parent)}
    for model, name in loads.items():
        done = place.run("export", scenario(place), "--to", "transformers", "--print", "--json", "--no-prediction", "--set", f"model.config={model}")
        lines = [each["file"] for each in done.json()["exports"][0]["differences"] if each["key"] == "model"]
        check(lines == [f'model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained("{name}"), dtype=torch.float32)'], (model, lines))
    done = place.run("export", scenario(place), "--to", "transformers", "--print", "--no-prediction", "--set", "model.config=mine",
                     "--set", "model.weights=mine/model.safetensors")
    check(f'AutoModelForCausalLM.from_pretrained("{shape.parent}", config=AutoConfig.from_pretrained("{shape.parent}"), dtype' in done.out, done)


def test_deepspeed():
    place = Place()
    out = place.path / "out"
    done = place.run("export", scenario(place, strategy="zero3"), "--to", "deepspeed", "-o", out)
    check(done.code == 0, done)
    said = json.loads((out / "eight.deepspeed.json").read_text())
    check(said["zero_optimization"]["stage"] == 3 and said["bf16"] == {"enabled": True} and said["gradient_clipping"] == 1.0, said)
    unclipped = place.run("export", scenario(place, strategy="zero3"), "--to", "deepspeed", "--print", "--json", "--set", "train.clip_norm=none").json()
    text = json.loads(unclipped["exports"][0]["files"][0]["text"])
    check(text["gradient_clipping"] == 0, text)


def test_what_does_not_fit_is_said():
    place = Place()
    large = ("--set", "cluster.memory_limit=1GiB", "--print")
    for strategy, targets in (("zero3", ("deepspeed", "torchrun")), ("fsdp2", ("transformers", "slurm"))):
        for target in targets:
            done = place.run("export", scenario(place, strategy=strategy), "--to", target, *large)
            check(done.err.startswith(f"note: what is written for {target} does not fit: the steps "), done.err)
            check("\n            does not fit: the steps " in done.out, done)
            heads = "\n# Predicted of the scenario: step" in done.out
            check(heads == (target in ("torchrun", "slurm")) and (not heads or "does not fit: " in done.out.split("\n# Pred")[1]), done)
            run = place.run("export", scenario(place, strategy=strategy), "--to", target, *large, "--json").json()["exports"][0]["run"]
            check(run["fits"] == "no" and run["fit_reason"].startswith("the steps "), run)
    fits = place.run("export", scenario(place, strategy="zero3"), "--to", "deepspeed", "--print", "--json")
    check(fits.err == "" and fits.json()["exports"][0]["run"]["fits"] == "yes", fits)


def test_deepspeed_takes_the_optimizer_of_the_program_in_host_memory():
    """DeepSpeed 0.19 ends with ZeRORuntimeException where an optimizer other than its own is given beside offload_optimizer, unless the file
    says zero_force_ds_cpu_optimizer: false; the program that is told has torch's."""
    place = Place()
    out = place.path / "out"
    for strategy, offloaded in (("zero3", True), ("zero2", True), ("zero3", False)):
        settings = ("--set", "offload.optimizer=cpu") if offloaded else ()
        done = place.run("export", scenario(place, strategy=strategy), "--to", "deepspeed", "-o", out, "--force", "--no-prediction", *settings)
        check(done.code == 0 and "torch.optim.AdamW(" in done.out, done)
        said = json.loads((out / "eight.deepspeed.json").read_text())
        check(said.get("zero_force_ds_cpu_optimizer") == (False if offloaded else None), (strategy, said))
        read = place.run("import", out / "eight.deepspeed.json", "--onto", scenario(place, strategy=strategy), "--json")
        check(not [d for d in read.json()["differences"] if d["key"] == "zero_force_ds_cpu_optimizer" and d["kind"] != "elsewhere"], read)
    program = place.run("export", scenario(place, strategy="zero3"), "--to", "script", "--print", "--no-prediction", "--set", "offload.optimizer=cpu")
    check(program.out.count('"zero_force_ds_cpu_optimizer": False') == 1, program)


def test_scripts():
    """What the shell starts, through stand-ins that print their arguments; torchrun's own parser reads them."""
    place = Place()
    out, stubs = place.path / "out", place.path / "stubs"
    stubs.mkdir()
    for name, text in {"torchrun": 'printf "%s\\n" "$NCCL_DEBUG" "$@"', "srun": 'shift; exec "$@"', "scontrol": "echo first; echo second"}.items():
        (stubs / name).write_text(f"#!/bin/sh\n{text}\n")
        (stubs / name).chmod(0o755)
    check(place.run("export", scenario(place, nodes=2), "-o", out).code == 0, "two nodes")
    environment = dict(os.environ, PATH=f"{stubs}:{os.environ['PATH']}", SLURM_NNODES="2", SLURM_JOB_ID="17", SLURM_JOB_NODELIST="n[1-2]", SLURM_CPUS_PER_TASK="112")
    for script, head, endpoint in (("eight.torchrun.sh", "one", "one:29500"), ("eight.sbatch", "", "first:29500")):
        check((out / script).stat().st_mode & stat.S_IXUSR, f"{script} is executable")
        done = subprocess.run([out / script, "train.py", "--rate", "1"], env=dict(environment, HEAD=head), capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, done.stderr)
        variable, *arguments = done.stdout.splitlines()
        check(variable == "it's on", variable)
        check(arguments[-3:] == ["train.py", "--rate", "1"] and f"--rdzv-endpoint={endpoint}" in arguments, arguments)
        if WITH_TORCH:
            parsed = parsed_by_torchrun(arguments)
            check(parsed == ["2", "8", "c10d", endpoint, "train.py", ["--rate", "1"]], parsed)
    nobody = subprocess.run([out / "eight.torchrun.sh", "train.py"], env={key: value for key, value in environment.items() if key != "HEAD"},
                            capture_output=True, text=True, timeout=60)
    check(nobody.returncode != 0 and "HEAD" in nobody.stderr, nobody)


def test_processors_of_a_batch_job():
    """A task has one core unless somebody asks for more, and srun asks by itself for none."""
    place = Place()
    for cluster, cores, whose in (("{node: hgx-h100, nodes: 2}", 112, "14 cores for each GPU, as dgx-h100 has"),
                                  ("{node: hgx-h100, gpus_per_node: 4}", 56, "14 cores for each GPU, as dgx-h100 has"),
                                  ("{gpu: A100, gpus_per_node: 8}", 96, "12 cores for each GPU, as is usual; say what your nodes have"),
                                  ("{device: cpu, ranks: 2, threads_per_rank: 3}", 6, "")):
        done = place.run("export", scenario(place), "--to", "slurm", "--print", "--json", "--no-prediction", "--set", f"cluster={cluster}")
        text = done.json()["exports"][0]["files"][0]["text"]
        check(f"\n#SBATCH --cpus-per-task={cores}\n" in text and 'srun --cpus-per-task="$SLURM_CPUS_PER_TASK" torchrun ' in text, (cluster, text))
        check(whose in text, (cluster, text))
        check(", for slurm with torch 2.11. Written by shardlab" in text, text)


def parsed_by_torchrun(arguments):
    program = ("import json, sys; from torch.distributed.run import get_args_parser; a = get_args_parser().parse_args(sys.argv[1:]);"
               "print(json.dumps([a.nnodes, a.nproc_per_node, a.rdzv_backend, a.rdzv_endpoint, a.training_script, a.training_script_args]))")
    done = subprocess.run([os.environ["SHARDLAB_PYTHON"], "-c", program, *arguments], capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


SETTINGS = {
    "fsdp1": ("cluster.nodes=2", "parallel.sharding=hybrid_shard", "parallel.mesh.replicate=2", "activation.checkpoint=full", "activation.placement=outside"),
    "fsdp2": ("parallel.reshard_after_forward=4", "activation.checkpoint=full", "precision.autocast=bfloat16", "train.accumulation=4"),
    "ddp": ("train.accumulation=2", "parallel.ddp.bucket_size=100MiB", "train.schedule.kind=cosine", "train.schedule.total_steps=100"),
    "zero2": ("parallel.zero.overlap_comm=true",),
    "zero3": ("train.accumulation=2",),
}


def test_programs():
    """Programs for GPUs, which no test here can run: Python takes them, and they use nothing that they do not import or make."""
    place = Place()
    for strategy, settings in SETTINGS.items():
        overrides = [part for setting in settings for part in ("--set", setting)]
        done = place.run("export", scenario(place, strategy=strategy), "--to", "script", "--print", "--json", "--no-prediction", "--set", "model.frozen=[model.embed_tokens]", *overrides)
        check(done.code == 0, done)
        program, = done.json()["exports"][0]["files"]
        check(program["name"] == "eight.train.py", program["name"])
        check(undefined_names(program["text"]) == set(), (strategy, undefined_names(program["text"])))
        check("time.sleep" not in program["text"], "only a program with Gloo's threads waits for them at its end")
        check(("overlap_comm" in program["text"]) == ("parallel.zero.overlap_comm=true" in settings), program["text"])


def test_attention_of_programs():
    """transformers has no SDPA for a model that caps its scores, and ends with an error where one asks for it."""
    place = Place()
    for model, attention in (("llama-3.2-1b", "sdpa"), ("gemma-2-2b", "eager"), ("gemma-2b", "sdpa")):
        done = place.run("export", scenario(place), "--to", "script", "--print", "--json", "--no-prediction", "--set", f"model.config={model}")
        check(done.code == 0, done)
        program, = done.json()["exports"][0]["files"]
        check(f'attn_implementation="{attention}"' in program["text"], (model, program["text"]))


def undefined_names(text):
    tree = ast.parse(text)
    made = {alias.asname or alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    made |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    made |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made |= {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins)) | {"__file__"}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - made


def test_refusals():
    place = Place()
    file = scenario(place)
    for arguments, message in ((("--to", "accelerat"), "did you mean 'accelerate'"), (("--to", "deepspeed"), "DeepSpeed runs ZeRO"),
                               (("--to", "accelerate", "--set", "parallel.strategy=native"), "shardlab's own"),
                               (("--to", "torchrun", "--set", "launch.env={'a b': c}"), "no name of a shell's variable"),
                               (("-o", file), "cannot be made")):
        done = place.run("export", file, *arguments)
        check(done.code == 2 and message in done.err, done)
    # A refusal stands at the setting to which it is due.
    for arguments, setting in ((("--to", "transformers-4"), "parallel.strategy"),
                               (("--to", "deepspeed"), "parallel.strategy"), (("--to", "slurm", "--set", "launch.env={'a b': c}"), "launch.env")):
        done = place.run("export", file, *arguments, "--json")
        check(done.code == 2 and setting in done.json()["error"]["where"] + done.json()["error"]["what"], (setting, done))


main(globals())
