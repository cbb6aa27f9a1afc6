"""One rank of programs that `shardlab export --to script` wrote. argv: cases (JSON file, a list of {program, steps}) and the folder to
answer in. Rank 0 writes answer.json: for each the losses and the collectives of every step, and which steps DeepSpeed skipped."""
import importlib.util
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

from _recorder import Recorder

recorder = Recorder()  # before anybody takes the functions of torch.distributed
from _rank import answer  # noqa: E402


def loaded(program):
    spec = importlib.util.spec_from_file_location("train", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seen_by_python(wrapper):
    """The reducer's own all-reduce is out of Python's sight; this hook makes the same one."""
    def wrapped(*args, **kwargs):
        model = wrapper(*args, **kwargs)
        model.register_comm_hook(None, allreduce_hook)
        return model
    return wrapped


def skipped_steps(arguments):
    """How many steps the engine among them has skipped: an overflow ends a step early."""
    return next((each.skipped_steps for each in arguments if hasattr(each, "skipped_steps")), 0)


def allow_float16(program):
    """Without special instructions of the processor DeepSpeed refuses float16 there; torch computes it all the same."""
    if hasattr(program, "deepspeed"):
        program.deepspeed.accelerator.get_accelerator().is_fp16_supported = lambda: True


def run(case, rank, world):
    """The program's own main(), but for the process group, which all programs share here."""
    torch.manual_seed(0)
    program, collectives, losses, skipped = loaded(case["program"]), [], [], []
    allow_float16(program)
    if hasattr(program, "DistributedDataParallel"):
        program.DistributedDataParallel = seen_by_python(program.DistributedDataParallel)
    train_step, finish = program.train_step, program.Record.finish

    def recorded_step(*args):
        before = skipped_steps(args)
        recorder.calls, recorder.on = [], True
        loss = train_step(*args)
        recorder.on = False
        skipped.append(skipped_steps(args) > before)
        collectives.append(recorder.calls)
        return loss

    def recorded_finish(record):
        finish(record)
        losses.append(torch.stack(record.losses).double())

    program.train_step, program.Record.finish = recorded_step, recorded_finish
    sys.argv = ["train.py", "--steps", str(case["steps"])]
    program.main()
    dist.all_reduce(losses[0])
    return {"losses": (losses[0] / world).tolist(), "collectives": collectives, "skipped": skipped}


def share_the_group():
    if "DS_ACCELERATOR" in os.environ:
        import deepspeed
        deepspeed.utils.logger.setLevel("ERROR")
        deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False)
    dist.init_process_group = dist.destroy_process_group = lambda *args, **kwargs: None


if __name__ == "__main__":
    answer(run, prepare=share_the_group)
