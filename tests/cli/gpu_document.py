"""The commands that docs/gpu.md begins with ask for nothing but GPUs."""

import os
import re
import shutil

from _shardlab import SOURCE, Place, check, expect, expect_error, main, needs_torch

needs_torch()

# Those of this program on scenarios that are shipped; others have placeholders.
COMMANDS = re.findall(r"^    shardlab ((?:run|validate) scenarios/\S+)", (SOURCE / "docs/gpu.md").read_text(), re.MULTILINE)


def test_only_a_gpu_is_missing():
    check(len(COMMANDS) >= 2, f"{COMMANDS}")
    if shutil.which("nvidia-smi"):
        print("        not tried: they would run here")
        return
    place = Place()
    for command in COMMANDS:
        name, scenario = command.split()
        options = ["--no-calibrate"] if name == "validate" else []
        if "tiny" in scenario:
            continue  # of processors: other tests run it
        expect_error(place.run(name, SOURCE / scenario, *options, timeout=120), 3, "GPU")


def test_they_have_data_and_fit():
    for command in COMMANDS:
        scenario = command.split()[1]
        if "tiny" in scenario:
            continue
        run = expect(Place().run("simulate", SOURCE / scenario, "--no-store", "--json"), 0).json()
        check(run["fits"] == "yes", f"{scenario}: {run['fits']}")
        text = expect(Place().run("scenario", SOURCE / scenario, "--write"), 0).out
        data = re.search(r"data: \[?([^\s\]]+)", text)
        check(data and os.path.exists(SOURCE / data.group(1)), text)


def test_other_gpus_are_named_as_it_says():
    setting = re.search(r"--set (cluster='\{[^']*\}')", (SOURCE / "docs/gpu.md").read_text()).group(1).replace("'", "")
    expect(Place().run("scenario", SOURCE / "scenarios/gpu/llama-1b.yaml", "--set", setting), 0)


main(globals())
