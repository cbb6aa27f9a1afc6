"""Settings drawn at random, exported and imported again: what comes back is the scenario but for the differences that the export lists; and a
file that was imported is exported as it was, at once."""
# processors: 1

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from _drawn_exports import LAYER, draw, nested

PROGRAM = os.environ["SHARDLAB"]
CASES = int(os.environ.get("SHARDLAB_CASES", 60))
MAIN_FILE = {"accelerate": ".accelerate.yaml", "deepspeed": ".deepspeed.json", "transformers": ".training_args.json",
             "transformers-4": ".training_args_4.json", "torchrun": ".torchrun.sh", "slurm": ".sbatch"}


def shardlab(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr


def exported(scenario, folder, target="all"):
    """Target -> its export, the files written into a folder of the target's own; None for a scenario that contradicts itself."""
    code, answer = shardlab("export", scenario, "--to", target, "--print", "--no-prediction")
    if code == 2 or isinstance(answer, str):
        return None
    for export in answer["exports"]:
        (folder / export["target"]).mkdir(parents=True, exist_ok=True)
        for each in export["files"]:
            # The head names the scenario's file, which is another each time.
            (folder / export["target"] / each["name"]).write_text(each["text"])
    return {export["target"]: export for export in answer["exports"] if not export["refused"]}


def main_file(folder, target):
    return next(file for file in sorted((folder / target).iterdir()) if file.name.endswith(MAIN_FILE[target]))


def normal_form(scenario, overrides, folder):
    """The scenario with these overrides as an import writes it: a script that says nothing new is put onto it."""
    script = folder / "same.sh"
    nodes = json.loads(scenario.read_text())["cluster"]["nodes"]
    script.write_text(f"#!/bin/bash\ntorchrun --nnodes={nodes} --nproc-per-node=8 train.py\n")
    options = [part for override in overrides for part in ("--set", override)]
    code, answer = shardlab("import", script, "--onto", scenario, *options)
    if code != 0 and answer["error"]["where"] == "precision.buffer":  # the model has no buffers
        return normal_form(scenario, [each for each in overrides if not each.startswith("precision.buffer")], folder)
    return answer["scenario"] if code == 0 else f"refused: {answer}"


def plain(text, elsewhere, layer):
    """Settings as lines key: value, without those that the program says, and with one name for what is the same."""
    lines, path = {}, []
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        key, _, value = line.strip().partition(": ")
        path = path[:depth] + [key.rstrip(":")]
        if value or line.strip().startswith("-"):
            lines[".".join(path)] = value.strip('"')
    same = {"parallel.wrap.policy": {"module": "transformer"}}
    lines = {key: same.get(key, {}).get(value, value) for key, value in lines.items()}
    usual = {"parallel.wrap.policy": "transformer", "parallel.wrap.classes": f"[{layer}]", "parallel.sharding": "full_shard", "offload.pin": "true", "offload.ratio": "100%",
             "parallel.mesh.shard": None, "parallel.mesh.replicate": "1", "precision.cast_forward_inputs": None, "cluster.nodes": "1", "checkpoint.type": "full",
             "parallel.reshard_after_backward": "true", "parallel.requires_all_reduce": "true"}
    return {key: value for key, value in lines.items() if not (key in usual and usual[key] in (value, None))
            and not any(key == each or key.startswith(each + ".") for each in elsewhere)}


def difference(first, second):
    return [f"{key}: {first.get(key)} became {second.get(key)}" for key in sorted(first.keys() | second.keys()) if first.get(key) != second.get(key)]


def round_trip(settings, scenario, target, export, folder):
    """Complaints about one target."""
    code, answer = shardlab("import", main_file(folder, target), "--onto", scenario)
    if code != 0:
        return [f"is refused: {answer}"]
    decided = [f"{d['key']}={d['file']}" for d in export["differences"] if d["kind"] != "elsewhere"]
    elsewhere = [d["key"] for d in export["differences"] if d["kind"] == "elsewhere"]
    if "parallel.sharding" in elsewhere:  # replicas are of hybrid sharding alone
        elsewhere.append("parallel.mesh")
    layer = LAYER[settings["model.config"]]
    expected = normal_form(scenario, decided, folder)
    complaints = difference(plain(expected, elsewhere, layer), plain(answer["scenario"], elsewhere, layer))
    if target in ("torchrun", "slurm"):
        return complaints
    # And from the file: what was imported says the same file, and that the same scenario.
    first = folder / "first.yaml"
    first.write_text(answer["scenario"])
    again = exported(first, folder / "again", target)
    if again is None:
        return [*complaints, "what was imported is not exported"]
    _, second = shardlab("import", main_file(folder / "again", target), "--onto", first)
    if isinstance(second, str) or second["scenario"] != answer["scenario"]:
        return [*complaints, "does not settle:", *difference(plain(answer["scenario"], [], ""), plain(second["scenario"], [], "") if not isinstance(second, str) else {"": second})]
    third = folder / "second.yaml"
    third.write_text(second["scenario"])
    once_more = exported(third, folder / "once more", target)
    texts = [[file["text"].split("\n", 1)[1] for file in exports[target]["files"]] for exports in (again, once_more)]
    return complaints if texts[0] == texts[1] else [*complaints, "is exported otherwise the second time"]


def main():
    generator = random.Random(int(os.environ.get("SHARDLAB_SEED", 31)))
    bad, trips, drawn, cases = 0, {}, 0, 0
    with tempfile.TemporaryDirectory() as place:
        while cases < CASES:
            drawn += 1
            settings = draw(generator.choice)
            folder = pathlib.Path(place) / str(drawn)
            folder.mkdir()
            scenario = folder / "scenario.yaml"
            scenario.write_text(json.dumps(nested(settings)))
            exports = exported(scenario, folder)
            if exports is None:
                continue
            cases += 1
            for target, export in exports.items():
                if target not in MAIN_FILE:
                    continue  # a program in Python, which nothing reads back
                trips[target] = trips.get(target, 0) + 1
                complaints = round_trip(settings, scenario, target, export, folder)
                if complaints:
                    bad += 1
                    print(f"FAILED {target}: {json.dumps(settings)}")
                    for complaint in complaints:
                        print("       ", complaint)
    print(f"{cases} scenarios of {drawn} drawn, round trips {trips}: {bad} with complaints")
    sys.exit(1 if bad else 0)


main()
