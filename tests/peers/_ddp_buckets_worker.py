"""One rank of trainings by DistributedDataParallel, with every all-reduce that the backend saw: the reducer makes them in C++, out of the sight
of a communication hook. argv: cases (JSON file, a list of {config, text, ddp, accumulation, steps}) and the folder to answer in."""
import contextlib
import time

import torch
from torch.nn.parallel import DistributedDataParallel

from _fsdp2_worker import SequentialBatches
from _llama import LlamaForCausalLM, mean_loss
from _rank import answer

LENGTH = 16


def seen(profile):
    """Bytes of the all-reduces of float32 and 32-bit numbers. Gloo's threads begin them in any order."""
    return sorted(4 * event.input_shapes[0][0] for event in profile.events() if event.name == "gloo:all_reduce")


def run(case, rank, world):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(LlamaForCausalLM(case["config"], LENGTH), **case["ddp"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    spec = {"text": case["text"], "sequence_length": LENGTH, "micro_batch": 1, "accumulation": case["accumulation"]}
    batches, steps = SequentialBatches(spec, rank, world), []
    for step in range(case["steps"]):
        with torch.profiler.profile(record_shapes=True) as profile:
            for micro_batch in range(case["accumulation"]):
                tokens, targets = batches.load(step, micro_batch)
                last = micro_batch == case["accumulation"] - 1
                with contextlib.nullcontext() if last else model.no_sync():
                    (mean_loss(model(tokens), targets) / case["accumulation"]).backward()
            time.sleep(0.1)  # what another thread ended a moment ago is noted in a moment
        optimizer.step()
        optimizer.zero_grad()
        steps.append(seen(profile))
    return steps


answer(run)
