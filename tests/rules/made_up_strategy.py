"""A strategy is one folder and one line: made_up_strategy.patch adds one, and the program that is built with it plans, checks,
explains, predicts and documents it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import _patched_program
import _source_rules

NAME = "averaging"
FOLDER = f"engine/strategies/{NAME}/"
SKIP = 77

source = pathlib.Path(os.environ["SHARDLAB_SOURCE"])
build = pathlib.Path(os.environ["SHARDLAB_BUILD"])
patch = source / "tests/rules/made_up_strategy.patch"


def check(holds, message):
    if not holds:
        raise SystemExit(f"failed: {message}")


def check_patch():
    outside = [path for path in _patched_program.touched(patch) if not path.startswith(FOLDER)]
    check(outside == [_source_rules.STRATEGY_LIST], f"outside its folder the strategy touches {outside}")
    lines = patch.read_text().split("+++ b/" + outside[0])[1].split("\ndiff ")[0].splitlines()
    changed = [line for line in lines[1:] if line.startswith(("+", "-"))]
    check(len(changed) == 1 and changed[0].startswith("+"), f"more than one line of the list changed: {changed}")


def run(program, *arguments, code=0):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, cwd=build,
                          env={**os.environ, "SHARDLAB_DB": str(program) + ".db"})
    check(done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout if code == 0 else done.stderr


def planned_like(program, strategy):
    scenario = str(source / "scenarios/first/tiny-llama.yaml")
    settings = ["--set", f"parallel={{strategy: {strategy}, wrap: transformer}}"]
    return [scenario, *settings]


def check_program(program):
    arguments = planned_like(program, NAME)
    plan = json.loads(run(program, "plan", *arguments, "--json"))
    check(plan["strategy"] == NAME, f"the plan is of {plan['strategy']}")
    reduced = [line["id"] for line in plan["instructions"] if line["kind"] == "AllReduce"]
    check(len(reduced) >= 7, f"{len(reduced)} all-reduces: one for each of six layers and the root were expected")
    why = " ".join(run(program, "plan", *arguments, "--explain", str(reduced[0])).split())
    check("ranks average its gradients" in why and "a made-up schedule" in why, f"the reason is missing:\n{why}")
    prediction = json.loads(run(program, "simulate", *arguments, "--json"))
    check(prediction["step_time_ns"]["median"] > 0, "the predicted step takes no time")
    check(prediction["volume"]["limit"] == 2, f"its rule for the volume is not asked: {prediction['volume']}")
    # Facts: keys, known names, checks.
    check(f"fsdp2, {NAME}, native" in run(program, "scenario", "--document"), "the key parallel.wrap does not name it")
    refused = run(program, "plan", str(source / "scenarios/first/tiny-llama.yaml"), "--set", "parallel.strategy=other", code=2)
    known = refused.partition("known: ")[2].splitlines()[0].split(", ")
    check(NAME in known and "fsdp2" in known, f"known names:\n{refused}")
    refused = run(program, "plan", *planned_like(program, NAME), "--set", "precision.param=bfloat16", code=2)
    check(f"bfloat16 with strategy {NAME}" in refused, f"precision:\n{refused}")


if not (build / "compile_commands.json").exists() or not (build / "build.ninja").exists():
    print("the build has no compile_commands.json or was not made by Ninja")
    sys.exit(SKIP)
check_patch()
with tempfile.TemporaryDirectory(prefix="shardlab-made-up-") as folder:
    program, tree = _patched_program.build_patched(source, build, patch, folder)
    problems = _source_rules.check(str(tree))
    check(not problems, f"the patched tree breaks rules: {problems}")
    check_program(program)
print(f"{NAME}: {len(_patched_program.touched(patch))} files, 1 line outside its folder; planned, explained, predicted, documented")
