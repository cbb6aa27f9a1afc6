"""Units of our wrap policies are the units of torch's own: the rows of tests/data/wrap/trees.txt, and Llamas under many policies."""
# processors: 1
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, SOURCE, TINY, Folder, needed, training, write_scenario


def torch_units(cases):
    done = subprocess.run([os.environ["SHARDLAB_PYTHON"], str(HERE / "_wrap_worker.py")], input=json.dumps(cases),
                          capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"torch's wrapping failed:\n{done.stderr}")
    return json.loads(done.stdout)


def shardlab(*arguments):
    return subprocess.run([os.environ["SHARDLAB"], *map(str, arguments)], capture_output=True, text=True, timeout=100)


# --- the table -----------------------------------------------------------------------------------------------------------------

def parse_tree(tokens):
    name, _, class_name = tokens.pop(0).partition(":")
    tree = {"name": name, "class": class_name or "Module", "parameters": {}, "children": []}
    if tokens and tokens[0].startswith("["):
        elements = int(tokens.pop(0)[1:-1])
        tree["parameters"] = {f"{name}_weight_{id(tree)}": elements}
    if tokens and tokens[0] == "(":
        tokens.pop(0)
        while tokens[0] != ")":
            tree["children"].append(parse_tree(tokens))
        tokens.pop(0)
    return tree


def table_cases():
    """(row, case, expected units) for the rows of torch's rule."""
    for line in (SOURCE / "tests/data/wrap/trees.txt").read_text().splitlines():
        if not line.startswith("remainder"):
            continue
        _, tree, units = line.split(" | ")
        expected = {("" if path == "root" else path): int(count) for path, count in
                    (unit.rsplit(" ", 1) for unit in units.split(", "))}
        case = {"tree": parse_tree(re.findall(r"[\w:]+|\[\d+\]|[()]", tree)), "policy": {"policy": "size", "min_params": 100}}
        yield line, case, expected


# --- models --------------------------------------------------------------------------------------------------------------------

def model_tree(scenario):
    """The module tree as `shardlab model` prints it."""
    modules = json.loads(shardlab("model", scenario, "--json").stdout)["modules"]
    trees = {}
    for module in modules:
        path = module["path"]
        parameters = {}
        for parameter in module["parameters"]:
            count = 1
            for extent in parameter["shape"]:
                count *= extent
            parameters[parameter["name"]] = count
        trees[path] = {"name": path.rsplit(".", 1)[-1], "class": module["class"], "parameters": parameters, "children": []}
        if path:
            trees[path.rpartition(".")[0]]["children"].append(trees[path])
    return trees[""]


CLASSES = ["Embedding", "LlamaModel", "LlamaDecoderLayer", "LlamaAttention", "LlamaMLP", "LlamaRMSNorm", "Linear"]


def simple_policy(rng):
    kind = rng.choice(["size", "size", "transformer", "module", "lambda"])
    if kind == "size":
        return {"policy": "size", "min_params": int(10 ** rng.uniform(2, 5.5))}
    classes = rng.sample(CLASSES, rng.randint(1, 3))
    if kind == "lambda":
        return {"policy": kind, "match": [{"class": name} for name in classes]}
    return {"policy": kind, "classes": classes}


def some_policy(rng):
    if rng.random() < 0.4:
        return {"policy": "or", "any": [some_policy(rng) if rng.random() < 0.2 else simple_policy(rng) for _ in range(rng.randint(1, 3))]}
    return simple_policy(rng)


def model_cases(folder):
    """(name, scenario file, case) for several shapes, tied or not, and many policies."""
    rng = random.Random(11)
    for index, change in enumerate([{}, {"tie_word_embeddings": True}, {"num_hidden_layers": 2, "hidden_size": 128, "vocab_size": 999},
                                    {"attention_bias": True, "mlp_bias": True, "intermediate_size": 1000}]):
        place = folder / str(index)
        place.mkdir()
        scenario = write_scenario(training(config=change), place)
        tree = model_tree(scenario)
        for _ in range(40):
            policy = some_policy(rng)
            yield f"{change} {json.dumps(policy)}", scenario, {"tree": tree, "policy": policy}


def our_units(scenario, policy):
    done = shardlab("plan", scenario, "--json", "--set", "parallel.wrap=" + json.dumps(policy))
    if done.returncode != 0:
        return done.stderr
    return {unit["modules"][0]: unit["elements"] for unit in json.loads(done.stdout)["units"]}


def main():
    needed("SHARDLAB_PYTHON")
    failures, refused = [], 0
    table = list(table_cases())
    assert len(table) >= 11, "the table is not read"
    for (row, _, expected), answer in zip(table, torch_units([case for _, case, _ in table])):
        if answer["units"] != expected:
            failures.append(f"{row}\n  torch: {answer['units']}")
    with Folder() as folder:
        models = list(model_cases(folder))
        for (name, scenario, case), answer in zip(models, torch_units([case for *_, case in models])):
            ours = our_units(scenario, case["policy"])
            if answer["split"]:
                refused += 1
                good = isinstance(ours, str) and "splits the tied parameter" in ours
            else:
                good = ours == answer["units"]
            if not good:
                failures.append(f"{name}\n  torch: {answer}\n  ours:  {ours}")
    assert refused > 3, "no case splits tied parameters"
    print(*failures[:10], sep="\n", end="\n" if failures else "")
    print(f"{len(table)} trees and {len(models)} models ({refused} refused), {len(failures)} differ")
    sys.exit(1 if failures else 0)


main()
