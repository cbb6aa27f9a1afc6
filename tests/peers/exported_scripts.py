"""Programs that `export --to script` wrote of settings drawn at random (others with $SHARDLAB_SEED), run with the real PyTorch and
transformers: their collectives are those of our plans, their losses those of our real runs."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import _drawn_settings
import _drawn_zero
from _drawn import STEPS, by_ranks, compare, draw_cases, tell
from _peer import Folder, drawn, needed

CASES_PER_WORLD = {2: drawn(2, 8), 4: drawn(1, 8)}
EXACT, ROUNDED = 1e-4, 2e-2  # relative, of losses: float32, bfloat16


def draw_sayable(pick, world):
    """What the program cannot say would be a difference: reentrant checkpoints, and single units of FSDP1."""
    scenario, changes = _drawn_settings.draw(pick, world)
    scenario.get("activation", {}).pop("reentrant", None)
    if scenario["parallel"]["strategy"] == "fsdp1":
        scenario["parallel"].get("wrap", {}).pop("overrides", None)
    parallel = scenario["parallel"]
    mixes = parallel.get("use_orig_params", True)  # else all of a flat parameter is trained, or nothing
    if mixes and not {"frozen"} & scenario.get("model", {}).keys() and "ignored" not in parallel.get("wrap", {}) and pick([True, True, False]):
        scenario["model"] = {"lora": {"rank": 4, "alpha": 8, "targets": ["q_proj", "v_proj"]}}
    return scenario, changes


def exported(case):
    """The case with its program; the scenario's own operators are those of transformers' modules."""
    folder = case["file"].parent
    done = subprocess.run([os.environ["SHARDLAB"], "export", str(case["file"]), "--to", "script", "-o", str(folder), "--json"],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"export of {case['file']} ended with {done.returncode}: {done.stdout}{done.stderr}")
    name, = [file["name"] for file in json.loads(done.stdout)["exports"][0]["files"]]
    return {**case, "program": str(folder / name)}


def among_several(made):
    """PyTorch makes collectives over one rank, too, which no plan has."""
    return {**made, "collectives": [[call for call in calls if call["ranks"] > 1] for calls in made["collectives"]]}


def differences(draw, variables, seed, folder):
    """Of how many programs, and of how many of them anything is told."""
    failures = count = 0
    for world, cases in draw_cases(draw, CASES_PER_WORLD, seed, folder):
        cases = [exported(case) for case in cases]
        for case, made in zip(cases, by_ranks("the program", "SHARDLAB_TRANSFORMERS", "_script_worker.py", cases, world, folder, **variables)):
            most = ROUNDED if "precision" in case["scenario"] else EXACT
            compared = 1 if _drawn_zero.is_zero0_in_16_bits(case["scenario"]) else STEPS
            complaints, worst, calls = compare("the program", case, among_several(made), most, compared)
            tell(case, world, "", complaints, worst, calls)
            failures, count = failures + bool(complaints), count + 1
    return count, failures


def main():
    needed("SHARDLAB", "SHARDLAB_TRANSFORMERS")
    with Folder() as folder:
        found = [differences(draw_sayable, {}, 11, folder)]
        if has_deepspeed():
            found.append(differences(_drawn_zero.draw, _drawn_zero.VARIABLES, 12, folder))
    counts, failures = map(sum, zip(*found))
    print(f"{counts} programs, {failures} with complaints")
    sys.exit(1 if failures else 0)


def has_deepspeed():
    return subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-c", "import deepspeed"], env=dict(os.environ, DS_ACCELERATOR="cpu"),
                          capture_output=True).returncode == 0


main()
