"""The doctor on files of accelerate, DeepSpeed, transformers and launchers. tests/data/doctor/files.txt says which rule comes first for each
file of tests/data/imports/bad; --update writes it again."""
# processors: 1
import concurrent.futures
import json
import sys

from _shardlab import SOURCE, Place, check, expect, main

FOLDER = SOURCE / "tests/data/imports"
TABLE = SOURCE / "tests/data/doctor/files.txt"
UPDATE = "--update" in sys.argv
SCENARIO = FOLDER / "base.yaml"


def write(place, name, text):
    (place.path / name).write_text(text)


def of_files():
    """Rules that files show."""
    rules = json.loads(expect(Place().run("doctor", "--rules", "--json"), 0).out)["rules"]
    return {rule["id"] for rule in rules if "files" in rule["needs"]}


def examined(*targets, code=None):
    """The document of `doctor --json`; files that others name are found in their folder."""
    place = Place()
    place.path = FOLDER / "bad" if str(targets[0]).startswith(str(FOLDER / "bad")) else FOLDER / "good"
    done = place.run("doctor", *[str(target) for target in targets], "--json")
    check(done.code in ((0, 1) if code is None else (code,)), f"{targets}", done)
    return json.loads(done.out)


def first_rule(file):
    """Of a bad file: what comes first, or what the doctor says instead."""
    document = examined(file, "--onto", SCENARIO)
    above = [finding["rule"] for finding in document["findings"] if finding["severity"] != "info"]
    return above[0] if above else "note" if document["notes"] else "nothing"


def bad_files():
    return sorted(file for file in (FOLDER / "bad").iterdir() if file.is_file() and file.suffix in (".yaml", ".json", ".sh", ".sbatch"))


def test_mistakes_of_files_belong_to_rules():
    files = bad_files()
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        found = dict(zip([file.name for file in files], workers.map(first_rule, files)))
    text = "".join(f"{name} {rule}\n" for name, rule in found.items())
    if UPDATE:
        TABLE.write_text(text)
    check(TABLE.read_text() == text, f"another table than {TABLE.name}:\n{text}")
    check("nothing" not in found.values(), text)
    print(f"{len(files)} files, {sum(rule.startswith('file/') for rule in found.values())} without a rule of their own")


def test_files_without_mistakes_are_quiet_and_every_rule_of_files_has_a_case():
    rules, triggered, wrong = of_files(), set(), []
    for file in sorted((FOLDER / "good").iterdir()):
        if file.name.endswith((".scenario.yaml", ".warnings")):
            continue
        targets = sorted(file.iterdir()) if file.is_dir() else [file]
        found = {f["rule"]: f["severity"] for f in examined(*targets, "--onto", SCENARIO)["findings"]}
        triggered |= set(found)
        warns = (FOLDER / "good" / (file.name.split(".")[0] + ".warnings")).exists()
        plan_shows_it_too = {"wrap/one-unit", "prefetch/no-backward", "memory/checkpoint-outside-unit", "speed/exposed"}
        if not warns and {rule for rule, severity in found.items() if severity != "info"} & (rules - plan_shows_it_too):
            wrong.append(f"{file.name}: {found}")
    triggered |= {line.split()[1] for line in TABLE.read_text().splitlines()}
    # What only texts show that no shipped file has; each is tried below.
    elsewhere = {"start/incomplete-launch", "configuration/trainer-reads-json", "wrap/no-units-minimum",
                 "memory/checkpoint-outside-unit"}
    check(not wrong, "\n".join(wrong))
    check(rules - elsewhere <= triggered, f"no case: {sorted(rules - elsewhere - triggered)}")


def rules_of(name, text, *more):
    place = Place()
    write(place, name, text)
    done = place.run("doctor", name, *more, "--json")
    check(done.code in (0, 1), name, done)
    return {finding["rule"]: finding for finding in json.loads(done.out)["findings"]}


ACCELERATE = """compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: {machines}
num_processes: 16
fsdp_config:
  fsdp_version: 1
  fsdp_auto_wrap_policy: SIZE_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_min_num_params: {least}
"""


def test_rules_that_need_a_text_of_their_own():
    found = rules_of("a.yaml", ACCELERATE.format(machines=2, least=0))
    check(found["start/incomplete-launch"]["severity"] == "error" or found["start/incomplete-launch"]["severity"] == "warning", found)
    check(found["wrap/no-units-minimum"]["severity"] == "warning", found)
    near = rules_of("a.yaml", ACCELERATE.format(machines=1, least=1000000))
    check(not {"start/incomplete-launch", "wrap/no-units-minimum"} & set(near), near)
    trainer = '{"fsdp": "full_shard auto_wrap", "per_device_train_batch_size": 1, "gradient_checkpointing": %s}'
    found = rules_of("t.json", trainer % "true")
    check(found["memory/checkpoint-outside-unit"]["severity"] == "info", found)
    check("memory/checkpoint-outside-unit" not in rules_of("t.json", trainer % "false"), "")
    place = Place()
    write(place, "fsdp.yaml", "transformer_layer_cls_to_wrap: LlamaDecoderLayer\n")
    write(place, "trainer.json", '{"fsdp": "full_shard auto_wrap", "fsdp_config": "fsdp.yaml", "per_device_train_batch_size": 1}')
    found = json.loads(place.run("doctor", "trainer.json", "--json").out)["findings"]
    check(found[0]["rule"] == "configuration/trainer-reads-json", found)


def test_variables_left_from_debugging_are_warned_of():
    found = {f["rule"]: f for f in examined(FOLDER / "good/script_environment.sbatch")["findings"]}
    for rule, variable in (("network/peer-to-peer", "NCCL_P2P_DISABLE=1"), ("speed/exposed", "CUDA_LAUNCH_BLOCKING=1")):
        check(found[rule]["severity"] == "warning" and variable in found[rule]["message"], found.get(rule))
    off = rules_of("run.sh", "export CUDA_LAUNCH_BLOCKING=0 NCCL_P2P_DISABLE=0\ntorchrun --nproc_per_node 8 train.py\n")
    check(not {"network/peer-to-peer", "speed/exposed"} & set(off), off)


def test_files_alone_say_what_was_not_looked_at():
    place = Place()
    write(place, "ds.json", '{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}')
    done = expect(place.run("doctor", "ds.json"), 0)
    check("The files alone were looked at" in done.out and "--onto S" in done.out, done)


def test_a_file_and_its_log_are_one_case():
    place = Place()
    write(place, "ds.json", '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4}')
    write(place, "job.log", "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * "
          "gradient_acc_step * world_size 100 != 2 * 4 * 8\n")
    document = json.loads(expect(place.run("doctor", "ds.json", "job.log", "--onto", str(SCENARIO), "--json"), 1).out)
    first = document["findings"][0]
    check(first["rule"] == "configuration/batch-sizes", first)
    check({seen["source"] for seen in first["evidence"]} == {"ds.json", "job.log"}, first)


def test_a_fix_of_files_is_a_scenario():
    place = Place()
    write(place, "ds.json", '{"train_micro_batch_size_per_gpu": 64, "zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}')
    done = place.run("doctor", "ds.json", "--onto", str(SCENARIO), "--fix", "-o", "fixed.yaml")
    check(done.code in (0, 1) and (place.path / "fixed.yaml").exists(), "", done)
    check(json.loads(expect(place.run("simulate", "fixed.yaml", "--json"), 0).out), "")


def test_what_only_looks_like_a_file_of_a_tool_is_a_log():
    place = Place()
    write(place, "job.out", "+ torchrun --nproc_per_node 8 train.py\nRuntimeError: CUDA error: device-side assert triggered\n")
    found = json.loads(expect(place.run("doctor", "job.out", "--json"), 1).out)["findings"]
    check(not found[0]["rule"].startswith("file/"), found)
    write(place, "config.json", '{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096}')
    check(place.run("doctor", "config.json").code in (0, 1), "")
    check(place.run("doctor", "--onto", str(SCENARIO), "job.out").code == 2, "--onto is for files")


main(globals())
