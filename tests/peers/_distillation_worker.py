"""One rank of distillations with Python's own fully_shard: a frozen teacher under no_grad before the student, in every micro-batch.
argv: their specifications (JSON file, a list) and the folder to answer in, as _fsdp2_worker.py has them; `teacher` holds what its
model and its sharding have otherwise. Rank 0 writes answer.json: losses of every step and the collectives of the steps in `record`.
"""
import json
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from _fsdp2_worker import DTYPES, SequentialBatches, make_model, make_optimizer
from _llama import LlamaDecoderLayer, LlamaForCausalLM, read_safetensors
from _recorder import Recorder
from _strategies import fsdp1


def make_teacher(spec):
    teacher = LlamaForCausalLM(spec["config"], spec["sequence_length"])
    teacher.load_state_dict(read_safetensors(spec["weights"]))
    teacher = teacher.to(DTYPES[spec["dtype"]]).requires_grad_(False).eval()
    if spec["strategy"] == "none":
        return teacher
    if spec["strategy"] == "fsdp1":
        return fsdp1(teacher, {"sharding": spec["sharding"]}, {"param": spec["param"]} if spec["param"] else {})
    policy = MixedPrecisionPolicy(param_dtype=DTYPES[spec["param"]] if spec["param"] else None)
    # An explicit setting is given to the root as to the layers: no backward follows that would want it gathered.
    settings = {} if spec["reshard"] == "default" else {"reshard_after_forward": {"true": True, "false": False}.get(spec["reshard"]) if
                                                        spec["reshard"] in ("true", "false") else int(spec["reshard"])}
    for module in teacher.modules():
        if isinstance(module, LlamaDecoderLayer):
            fully_shard(module, mp_policy=policy, **settings)
    return fully_shard(teacher, mp_policy=policy, **settings)


def distillation_loss(student, teacher, targets, temperature, weight, dtype=torch.float32):
    student, teacher = student.to(dtype).flatten(0, 1), teacher.to(dtype).flatten(0, 1)
    soft = F.kl_div(F.log_softmax(student / temperature, -1), F.softmax(teacher / temperature, -1), reduction="batchmean")
    return (1 - weight) * F.cross_entropy(student, targets.flatten()) + weight * temperature ** 2 * soft


def train_step(student, teacher, optimizer, batches, spec, step):
    total = 0.0
    for micro_batch in range(spec["accumulation"]):
        last = micro_batch + 1 == spec["accumulation"]
        if spec["accumulation"] > 1:
            student.set_requires_gradient_sync(last or spec["sync"] == "every")
        tokens, targets = batches.load(step, micro_batch)
        with torch.no_grad():
            known = teacher(tokens)
        logits = student(tokens)
        loss = distillation_loss(logits, known, targets, spec["temperature"], spec["weight"])
        (loss / spec["accumulation"]).backward()
        # What is reported comes from the same logits in float64: a divergence of models that nearly agree is the small difference of
        # large logarithms, of which float32 leaves few digits.
        exact = distillation_loss(logits.detach(), known, targets, spec["temperature"], spec["weight"], torch.float64)
        total += exact.item() / spec["accumulation"]
    if spec["clip_norm"] is not None:
        torch.nn.utils.clip_grad_norm_(student.parameters(), spec["clip_norm"])
    optimizer.step()
    optimizer.zero_grad()
    return total


def train(spec, rank, world, recorder):
    torch.set_num_threads(spec["threads"])
    student = make_model(spec)
    teacher = make_teacher({**spec["teacher"], "sequence_length": spec["sequence_length"]})
    optimizer = make_optimizer(student, spec)
    batches = SequentialBatches(spec, rank, world)
    losses, collectives = [], {}
    for step in range(spec["steps"]):
        recorder.calls, recorder.on = [], step in spec["record"]
        losses.append(train_step(student, teacher, optimizer, batches, spec, step))
        recorder.on = False
        if step in spec["record"]:
            collectives[step] = recorder.calls
    losses = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(losses)
    return {"losses": (losses / world).tolist(), "collectives": collectives}


def main():
    with open(sys.argv[1]) as file:
        specs = json.load(file)
    folder, rank, world = sys.argv[2], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    recorder = Recorder()
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world)
    answers = [train(spec, rank, world, recorder) for spec in specs]
    if rank == 0:
        with open(os.path.join(folder, "answer.json"), "w") as file:
            json.dump(answers, file)
    # Gloo's destructors sometimes abort at a normal exit after the work is done.
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)


main()
