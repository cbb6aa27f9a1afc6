"""`import` of other tools' configurations: files with one mistake each are refused at its place, good ones become the scenario beside them,
and legal traps are told (tests/data/imports)."""
# processors: 1

import json
import re

from _shardlab import SOURCE, Place, check, expect, expect_error, main

FILES = SOURCE / "tests" / "data" / "imports"
BASE = FILES / "base.yaml"


def test_every_mistake_is_refused_at_its_place():
    place = Place()
    expected = sorted((FILES / "bad").glob("*.expected"))
    check(len(expected) >= 60, f"{len(expected)} files with a mistake")
    missed = []
    for file in expected:
        bad = file.with_suffix("")
        done = place.run("import", bad, "--onto", BASE)
        parts = file.read_text().splitlines()
        if done.code != 2 or not done.err.startswith("error: ") or any(part not in done.err for part in parts) or done.out:
            missed.append(f"{bad.name}: exit code {done.code}, expected {parts}\n{done.err}{done.out[:300]}")
    check(not missed, "\n".join(missed))
    print(f"{len(expected)} files with a mistake are refused at its place")


def good_cases():
    """Name -> (files, the expected scenario): a file NAME.ext with NAME.scenario.yaml, or a folder of files that are one case."""
    for scenario in sorted((FILES / "good").glob("*.scenario.yaml")):
        name = scenario.name.removesuffix(".scenario.yaml")
        files = [file for file in sorted((FILES / "good").glob(f"{name}.*")) if not file.name.endswith((".scenario.yaml", ".warnings"))]
        if (FILES / "good" / name).is_dir():
            files = sorted((FILES / "good" / name).iterdir())
        yield name, files, scenario


def test_every_good_file_is_read():
    place = Place()
    wrong, count = [], 0
    for name, files, scenario in good_cases():
        count += 1
        done = place.run("import", *files, "--onto", BASE, "--json")
        if done.code != 0:
            wrong.append(f"{name}: exit code {done.code}\n{done.err}")
            continue
        document = done.json()
        if document["scenario"] != scenario.read_text():
            wrong.append(f"{name}: read as\n{document['scenario']}")
        warnings = " ".join(f"{each['place']}: {each['what']} ({each['hint']})" for each in document["warnings"])
        traps = scenario.with_name(f"{name}.warnings")
        for part in traps.read_text().splitlines() if traps.exists() else []:
            if part not in warnings:
                wrong.append(f"{name}: '{part}' is not told: {warnings}")
        again = place.path / f"{name}.yaml"
        expect(place.run("import", *files, "--onto", BASE, "-o", again), 0)
        checked = place.run("scenario", again)
        check(checked.code == 0 or "not supported yet" in checked.err, f"{name}: {checked}")
        refused = re.findall(r": (not supported yet: .*?) \(", checked.err)
        wrong += [f"{name}: import did not warn of '{what}': {warnings}" for what in refused if what not in warnings]
    check(count >= 20, f"{count} good files")
    check(not wrong, "\n".join(wrong))
    print(f"{count} good cases are read as the scenarios beside them")


def test_fields_of_the_document():
    place = Place()
    document = expect(place.run("import", FILES / "good" / "zero3.json", "--onto", BASE, "--json"), 0).json()
    check(document["format"] == "deepspeed" and document["version"] == "0.19.8", document)
    check(document["settings"]["parallel.strategy"] == "zero3" and document["settings"]["train.micro_batch"] == 2, document["settings"])
    check(document["sources"]["train.micro_batch"]["place"].startswith(str(FILES / "good" / "zero3.json") + ":"), document["sources"])
    check({"key", "kind", "file", "scenario", "why", "place"} == set(document["differences"][0]), document["differences"])


def test_what_is_missing_is_named():
    place = Place()
    zero = FILES / "good" / "zero3.json"
    expect_error(place.run("import", zero), 2, "model.config, model.sequence_length, cluster.node", "--onto S")
    said = ["--set", "model.config=llama-3-8b", "--set", "model.sequence_length=512", "--set", "cluster.node=hgx-h100"]
    text = expect(place.run("import", zero, *said), 0).out
    check(text.startswith("# imported by shardlab from ") and "strategy: zero3" in text, text)
    out = place.path / "made.yaml"
    expect(place.run("import", zero, *said, "-o", out), 0)
    expect_error(place.run("import", zero, *said, "-o", out), 2, "exists already", "--force")
    check("Trainer" not in expect(place.run("simulate", out, "--no-store", "--json"), 0).out, "simulates")


def test_the_model_that_a_file_names():
    """Without --onto the Hub's name counts, of a model that ships; --onto and --set go before it."""
    place = Place()
    recipe = place.path / "recipe.yaml"
    text = "output_dir: out\nper_device_train_batch_size: 1\nmax_length: 512\nbf16: true\nmodel_name_or_path: {}\n"
    recipe.write_text(text.format("Qwen/Qwen3-8B"))
    node = ["--set", "cluster.node=hgx-h100", "--set", "cluster.gpus_per_node=1"]
    document = expect(place.run("import", recipe, *node, "--json"), 0).json()
    check(document["settings"]["model.config"] == "Qwen/Qwen3-8B" and "model_name_or_path" not in str(document["differences"]), document)
    check("config: llama-3-8b" in expect(place.run("import", recipe, "--onto", BASE), 0).out, "--onto says the model")
    check("config: phi-2" in expect(place.run("import", recipe, *node, "--set", "model.config=phi-2"), 0).out, "--set says the model")
    recipe.write_text(text.format("Qwen/Qwen9-8B"))
    expect_error(place.run("import", recipe, *node), 2, f"{recipe}:5:21: does not say model.config: of \"Qwen/Qwen9-8B\" nothing ships", "--onto S")


def test_a_cluster_alone_says_how_many_train():
    """The Trainer without FSDP replicates: on the ranks of --set's cluster, where there is no --onto."""
    place = Place()
    recipe = place.path / "recipe.yaml"
    recipe.write_text("output_dir: out\nper_device_train_batch_size: 1\nmax_length: 512\nmodel_name_or_path: Qwen/Qwen3-8B\n")
    for gpus, strategy in ((8, "ddp"), (1, "none")):
        node = ["--set", "cluster.node=hgx-h100", "--set", f"cluster.gpus_per_node={gpus}"]
        document = expect(place.run("import", recipe, *node, "--json"), 0).json()
        check(document["settings"]["parallel.strategy"] == strategy, document["settings"])


def test_a_base_need_not_name_the_strategy():
    """Several ranks and no strategy are no scenario yet; the imported file says the strategy. One that is named is held to it."""
    place = Place()
    text = "model: {config: llama-3.2-1b, sequence_length: 512}\ncluster: {node: hgx-h100}\n"
    file = place.path / "ds.json"
    file.write_text(json.dumps({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": True}, "zero_optimization": {"stage": 2}}))
    done = expect(place.run("import", file, "--onto", place.scenario("open", text=text)), 0)
    check("strategy: zero2" in done.out, "the file's strategy", done)
    expect_error(place.run("import", file, "--onto", place.scenario("named", text=text + "parallel: {strategy: none}\n")), 2, "none trains on one rank")


def test_a_translator_between_fsdp_and_deepspeed():
    """FSDP becomes ZeRO and back, through a scenario."""
    place = Place()
    fsdp = place.path / "fsdp.yaml"
    expect(place.run("import", FILES / "good" / "fsdp2.yaml", "--onto", BASE, "-o", fsdp), 0)
    out = place.path / "zero"
    place.run("export", fsdp, "--to", "deepspeed", "--set", "parallel.strategy=zero3", "-o", out)
    zero = place.path / "zero.yaml"
    expect(place.run("import", FILES / "good" / "zero3.json", "--onto", fsdp, "-o", zero), 0)
    back = place.run("export", zero, "--to", "deepspeed", "--print", "--json", "--no-prediction", "--accept", "train.optimizer")
    text = json.loads(back.json()["exports"][0]["files"][0]["text"])
    check(text["zero_optimization"]["stage"] == 3 and text["bf16"]["enabled"], text)


def test_what_no_shell_runs():
    """Scripts are read, never executed."""
    place = Place()
    script = place.path / "evil.sh"
    mark = place.path / "mark"
    script.write_text(f"#!/bin/bash\ntouch {mark}\nX=$(touch {mark})\ntorchrun --nproc-per-node=8 train.py --output_dir `touch {mark}`\n")
    expect(place.run("import", script, "--onto", BASE), 0)
    check(not mark.exists(), "the script was run")


def test_a_line_chooses_among_several_trainings():
    place = Place()
    script = place.path / "two.sh"
    script.write_text("# two trainings\ntorchrun --nproc_per_node=2 a.py\nif true; then\n  torchrun --nproc_per_node=4 b.py\nfi\n")
    expect_error(place.run("import", script, "--onto", BASE), 2, f"{script}:4:3: starts ranks a second time", f"{script}:2, {script}:4")
    document = expect(place.run("import", f"{script}:4", "--onto", BASE, "--json"), 0).json()
    check(document["settings"]["cluster.gpus_per_node"] == 4, document["settings"])
    expect_error(place.run("import", f"{script}:3", "--onto", BASE), 2, "no ranks are started in this line")


def test_a_batch_script_and_its_launcher_have_versions_of_their_own():
    place = Place()
    files = expect(place.run("import", FILES / "good" / "accelerate_example.sbatch", "--onto", BASE, "--json"), 0).json()["files"]
    check([(each["format"], each["version"]) for each in files] == [("slurm", ""), ("accelerate", "1.15.0")], files)


def test_a_folder_alone_makes_no_trainer():
    """Programs with a loop of their own have output_dir, learning_rate ... as well: the Trainer's defaults are not theirs."""
    place = Place()
    script = place.path / "run.sh"
    for arguments, batch in (("--output_dir out --learning_rate 1e-4 --gradient_checkpointing --bf16", 2), ("--output_dir out --logging_steps 10", 8)):
        script.write_text(f"torchrun --nproc_per_node=8 train.py {arguments}\n")
        text = expect(place.run("import", script, "--onto", BASE), 0).out
        check(f"micro_batch: {batch}\n" in text, f"{arguments}: micro_batch is not {batch}:\n{text}")


def test_the_environment_of_a_script():
    """What the ranks' libraries read is launch.env, and comes back from an export; what else is exported is listed, what is not exported told."""
    place = Place()
    script = FILES / "good" / "script_environment.sbatch"
    document = expect(place.run("import", script, "--onto", BASE, "--json"), 0).json()
    said = {"CUDA_LAUNCH_BLOCKING": "1", "FI_PROVIDER": "efa", "NCCL_P2P_DISABLE": "1", "OMP_NUM_THREADS": "12"}
    check(document["settings"]["launch.env"] == said, document["settings"])
    listed = {each["key"]: each["kind"] for each in document["differences"]}
    check(listed["PYTHONUNBUFFERED"] == listed["HF_HUB_OFFLINE"] == listed["NCCL_IB_HCA"] == "elsewhere", listed)
    check("GPUS" not in listed and "WORK" not in listed, listed)
    made = place.path / "made.yaml"
    expect(place.run("import", script, "--onto", BASE, "-o", made), 0)
    text = expect(place.run("export", made, "--to", "slurm", "--print", "--no-prediction"), 0).out
    check(all(f"export {name}='{value}'" in text for name, value in said.items()), text)
    # Ranks on processors compute with the threads that the variable says.
    cpu = place.scenario("cpu", text="model: {config: tiny-llama, sequence_length: 32}\ncluster: {device: cpu, ranks: 2}\nparallel: {strategy: ddp}\n")
    settings = expect(place.run("import", script, "--onto", cpu, "--json"), 0).json()["settings"]
    check(settings["cluster.threads_per_rank"] == 12 and "OMP_NUM_THREADS" not in settings["launch.env"], settings)


def test_a_warm_up_that_is_a_part_of_an_unknown_length_is_told():
    place = Place()
    zero = {"scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": "auto"}}, "zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"},
            "train_micro_batch_size_per_gpu": "auto"}
    arguments = {"output_dir": "out", "per_device_train_batch_size": 1, "bf16": True, "warmup_ratio": 0.03}
    plain, with_zero = arguments | {"lr_scheduler_type": "constant_with_warmup"}, arguments | {"deepspeed": zero}
    for said, key in ((plain, "warmup_ratio"), (with_zero, "scheduler.params.warmup_num_steps")):
        file = place.path / "args.json"
        file.write_text(json.dumps(said))
        document = expect(place.run("import", file, "--onto", BASE, "--json"), 0).json()
        lost = {each["key"]: each["why"] for each in document["differences"] if each["kind"] == "lost"}
        check("warmup_ratio 0.03 is a part of the training's steps" in lost.get(key, ""), lost)
        check("train.schedule.warmup_steps" not in document["settings"], document["settings"])
        file.write_text(json.dumps(said | {"max_steps": 250}))
        settings = expect(place.run("import", file, "--onto", BASE, "--json"), 0).json()["settings"]
        check(settings["train.schedule.warmup_steps"] == 8, settings)


def test_a_file_that_swift_takes_for_fsdp():
    """ms-swift's --fsdp names a JSON file with fsdp and fsdp_config in it, and runs version 2 unless that says another."""
    config = {"_description": "what a person says about it", "fsdp": "full_shard auto_wrap offload",
              "fsdp_config": {"reshard_after_forward": False, "activation_checkpointing": True, "state_dict_type": "SHARDED_STATE_DICT"}}
    for version, strategy in ((None, "fsdp2"), (2, "fsdp2"), (1, "fsdp1")):
        place = Place()
        said = {**config, "fsdp_config": {**config["fsdp_config"], **({"fsdp_version": version} if version else {})}}
        if version == 1:
            del said["fsdp_config"]["reshard_after_forward"]
        (place.path / "fsdp.json").write_text(json.dumps(said))
        script = place.path / "train.sh"
        script.write_text("NPROC_PER_NODE=2 swift sft --model a/b --tuner_type full --max_length 256 --fsdp ./fsdp.json\n")
        document = expect(place.run("import", script, "--onto", BASE, "--json"), 0).json()
        settings = document["settings"]
        wanted = {"parallel.strategy": strategy, "activation.checkpoint": "full", "offload.parameters": "cpu", "checkpoint.type": "sharded"}
        check({key: settings.get(key) for key in wanted} == wanted, settings)
        check(version == 1 or settings["parallel.reshard_after_forward"] is False, settings)
        check(any("gives way to activation_checkpointing of ./fsdp.json" in each["what"] for each in document["warnings"]), document["warnings"])


def test_an_optimizer_that_a_scenario_lacks_is_told():
    place = Place()
    file = place.path / "args.json"
    for word, kind in (("lion_8bit", "lost"), ("paged_lion_8bit", "lost"), ("paged_adamw_8bit", None), ("paged_adamw_32bit", None), ("adamw_8bit", None)):
        file.write_text(json.dumps({"output_dir": "out", "per_device_train_batch_size": 1, "optim": word}))
        document = expect(place.run("import", file, "--onto", BASE, "--json"), 0).json()
        differences, settings = document["differences"], document["settings"]
        check({each["kind"] for each in differences if each["key"] == "optim"} == ({kind} if kind else set()), (word, differences))
        paged = word.startswith("paged_adamw")
        check(settings.get("train.optimizer_paged", False) is paged, (word, settings))
        check(not paged or settings["train.optimizer"] == ("adamw_8bit" if "8bit" in word else "adamw"), (word, settings))


TASKS = [  # options of sbatch, the command, what is warned of
    ("-N2 --ntasks-per-node=8", "srun torchrun --nnodes 2 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint a:1", "2 of these 16 meet"),
    ("-N 2 --ntasks-per-node=8", "srun torchrun --nproc_per_node 8", "64 ranks share its devices"),
    ("--nodes=2 --ntasks=16", "srun --label accelerate launch --num_processes 16 --num_machines 2 --main_process_ip a", "accelerate 8 times"),
    ("--nodes=2 --ntasks-per-node=8", 'srun bash -c "torchrun --nproc_per_node 8 train.py"', "torchrun 8 times"),
    ("--nodes=2 --ntasks-per-node=8", "srun --jobid $SLURM_JOB_ID --ntasks-per-node=1 torchrun --nnodes 2 --nproc_per_node 8", ""),
    ("--nodes=2 --ntasks-per-node=8", "srun -n2 torchrun --nnodes 2 --nproc_per_node 8", ""),
    ("--nodes=2 --ntasks-per-node=8", "srun -n $COUNT torchrun --nnodes 2 --nproc_per_node 8", ""),
    ("--nodes=2 --ntasks-per-node=8", "srun torchrun --nnodes 16 --nproc_per_node 1 --rdzv_backend c10d --rdzv_endpoint a:1", ""),
    ("--nodes=2 --ntasks-per-node=8", "torchrun --nnodes 2 --nproc_per_node 8", ""),
]


def test_a_file_that_is_named_is_found_above():
    """Repositories name their files from their own root, wherever import is started."""
    place = Place()
    root = place.path / "project"
    (root / "configs").mkdir(parents=True)
    (root / "examples" / "sft").mkdir(parents=True)
    zero = root / "configs" / "zero.json"
    zero.write_text(json.dumps({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": True}, "zero_optimization": {"stage": 2}}))
    script = root / "examples" / "sft" / "run.sh"
    script.write_text("deepspeed --num_gpus=8 train.py --deepspeed_config configs/zero.json\n")
    document = expect(place.run("import", script, "--onto", BASE, "--json"), 0).json()
    check(document["settings"]["parallel.strategy"] == "zero2", document["settings"])
    warnings = [each["what"] for each in document["warnings"]]
    check(any(f"configs/zero.json lies in {root}" in each for each in warnings), warnings)
    zero.unlink()
    expect_error(place.run("import", script, "--onto", BASE), 2, "names configs/zero.json, and there is no such file")


def test_a_script_that_keeps_lines_of_its_log_is_a_script():
    place = Place()
    script = place.path / "run.sh"
    script.write_text("torchrun --nproc_per_node=8 train.py --per_device_train_batch_size 1\n"
                      "# {'loss': 2.5, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.1}\n")
    document = expect(place.run("import", script, "--onto", BASE, "--json"), 0).json()
    check(document["settings"]["train.micro_batch"] == 1, document)


def test_srun_starts_a_launcher_for_every_task():
    place = Place()
    script = place.path / "job.sbatch"
    for options, command, warned in TASKS:
        script.write_text(f"#!/bin/bash\n#SBATCH {options} --gpus-per-node=8\n{command} train.py\n")
        warnings = [each["what"] for each in expect(place.run("import", script, "--onto", BASE, "--json"), 0).json()["warnings"]]
        said = [each for each in warnings if "srun starts" in each]
        check(bool(said) == bool(warned) and warned in " ".join(said), f"{options} {command}: {warnings}")


def test_what_is_imported_is_predicted():
    """Workers that load data and how many checkpoints are kept are of no step's time."""
    place = Place()
    file = place.path / "args.yaml"
    file.write_text("output_dir: out\nper_device_train_batch_size: 1\nbf16: true\nfsdp: full_shard auto_wrap\ndataloader_num_workers: 4\nsave_steps: 100\nsave_total_limit: 2\n")
    made = place.path / "made.yaml"
    expect(place.run("import", file, "--onto", BASE, "-o", made), 0)
    expect(place.run("simulate", made, "--no-store"), 0)


def test_kinds_of_trouble():
    place = Place()
    empty = place.path / "empty.json"
    empty.write_text("")
    expect_error(place.run("import", empty, "--onto", BASE), 2, "is empty")
    other = place.path / "other.yaml"
    other.write_text("colour: blue\n")
    expect_error(place.run("import", other, "--onto", BASE), 2, "is no file of a tool that import knows")
    expect_error(place.run("import", BASE), 2, "is a scenario of shardlab already")
    expect_error(place.run("import", place.path / "none.json"), 2, "no such file")
    expect_error(place.run("import", place.path), 2, "is a folder")
    expect_error(place.run("import", FILES / "good" / "zero3.json", FILES / "good" / "zero3.json", "--onto", BASE), 2, "a case has one file of each kind")
    binary = place.path / "binary.yaml"
    binary.write_bytes(bytes(range(256)))
    expect_error(place.run("import", binary, "--onto", BASE), 2, "is not a text file")


main(globals())
