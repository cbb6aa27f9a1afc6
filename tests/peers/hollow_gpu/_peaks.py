"""What programs share that train on a GPU that computes nothing (hollow_gpu/). Usage of each: WORKER.py CASES.json ANSWERS.json

Every case has a process of its own, forked once torch and what a model of transformers needs are loaded, and before either has looked at
the GPU; two run at a time.
"""
import json
import os
import pathlib
import sys
import tempfile
import traceback

import torch
from transformers import AutoConfig, AutoModelForCausalLM

FIGURES = ("requested_bytes", "allocated_bytes", "active_bytes", "reserved_bytes")
AT_A_TIME = 2


def peaks():
    """By torch's own names."""
    statistics = torch.cuda.memory_stats()
    return {figure: statistics[figure + ".all.peak"] for figure in FIGURES}


def load_models():
    """Transformers imports three hundred modules when it makes its first model: once here, not in every case."""
    with torch.device("meta"):
        AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", num_hidden_layers=1))


def start(answer, case, path):
    """A process that writes the answer there."""
    child = os.fork()
    if child == 0:
        os.environ["PYTORCH_ALLOC_CONF"] = case["conf"]
        os.environ["HOLLOW_MEMORY"] = str(case["memory"])
        os.environ["HOLLOW_EVENTS"] = case["events"]
        try:
            path.write_text(json.dumps(answer(case)))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)


def end_of_one():
    _, status = os.wait()
    if status != 0:
        sys.exit(f"a case ended by {status}")


def answer_all(answer):
    """Answers every case with answer(case), in their order."""
    torch.set_num_threads(1)
    load_models()
    cases = json.load(open(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / str(number) for number in range(len(cases))]
        for number, (case, path) in enumerate(zip(cases, paths)):
            if number >= AT_A_TIME:
                end_of_one()
            start(answer, case, path)
        for _ in paths[-AT_A_TIME:]:
            end_of_one()
        json.dump([json.loads(path.read_text()) for path in paths], open(sys.argv[2], "w"))
