"""One rank of trainings with Python's own fully_shard. argv: their specifications (JSON file, a list) and the folder to answer in.

RANK and WORLD_SIZE come from the environment; ranks meet through a file. Rank 0 writes answer.json, one answer a training: losses
and gradient norms of every step, seconds of every step, and the collectives of the steps that `record` names.
"""
import json
import os
import sys
import time
import types

import torch
import torch.distributed as dist
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from _llama import LlamaForCausalLM, mean_loss, read_safetensors, write_safetensors
from _recorder import Recorder

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class SequentialBatches:
    """The order `train.order: sequential` defines: sequence k starts at token k * S; a step takes the next global batch, rank r
    the r-th equal part of it, micro-batches in order."""

    def __init__(self, spec, rank, world):
        with open(spec["text"], "rb") as file:
            self.text = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).long()
        self.length, self.micro, self.accumulation = spec["sequence_length"], spec["micro_batch"], spec["accumulation"]
        self.rank, self.world = rank, world
        self.sequences = (len(self.text) - 1) // self.length

    def load(self, step, micro_batch):
        share = self.micro * self.accumulation
        first = step * share * self.world + self.rank * share + micro_batch * self.micro
        rows = [self.text[start:start + self.length + 1]
                for start in ((first + i) % self.sequences * self.length for i in range(self.micro))]
        batch = torch.stack(rows)
        return batch[:, :-1], batch[:, 1:]


def precision(spec, unit):
    """The policy of all units, with what this one has otherwise."""
    mixed = spec["param"] != "float32"
    dtypes = {"param": spec["param"] if mixed else None, "reduce": spec["reduce"] if mixed else None, "output": None, "cast": True, **unit}
    dtype = lambda key: DTYPES[dtypes[key]] if dtypes[key] else None
    return MixedPrecisionPolicy(param_dtype=dtype("param"), reduce_dtype=dtype("reduce"), output_dtype=dtype("output"),
                                cast_forward_inputs=dtypes["cast"])


def make_model(spec):
    model = LlamaForCausalLM(spec["config"], spec["sequence_length"])
    if spec.get("weights"):
        model.load_state_dict(read_safetensors(spec["weights"]), strict=not spec["config"].get("tie_word_embeddings"))
    units = spec["units"] or {"LlamaDecoderLayer": {}}
    layers = {} if spec["reshard"] == "default" else {"reshard_after_forward": json.loads(spec["reshard"])}
    root = {} if spec["root_reshard"] is None else {"reshard_after_forward": spec["root_reshard"]}
    # Without an accelerator nothing can be page-locked.
    offload = {"offload_policy": CPUOffloadPolicy(pin_memory=False)} if spec["offload"] else {}
    for module in reversed(list(model.modules())):  # inner ones first
        name = type(module).__name__
        if module is not model and name in units:
            fully_shard(module, mp_policy=precision(spec, units[name]), **layers, **offload)
    if spec["together"]:
        own = layers if spec["together_reshard"] is None else {"reshard_after_forward": spec["together_reshard"]}
        fully_shard([model.get_submodule(path) for path in spec["together"]], mp_policy=precision(spec, {}), **own, **offload)
    fully_shard(model, mp_policy=precision(spec, units.get("LlamaForCausalLM", {})), **root, **offload)
    return model


def make_optimizer(model, spec):
    """`optimizer` has the scenario's own keys; what is absent is the scenario's default."""
    given = dict(spec["optimizer"])
    rule = given.pop("optimizer")
    how = given.pop("optimizer_implementation", "fused")
    given.setdefault("weight_decay", 0.01)
    make = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "sgd": torch.optim.SGD}[rule]
    return make(model.parameters(), lr=spec["learning_rate"], fused=how == "fused", foreach=how == "foreach", **given)


def make_scaler(spec):
    """Disabled, it passes everything through."""
    given = dict(spec["scaler"] or {})
    names = {"initial_scale": "init_scale", "growth": "growth_factor", "backoff": "backoff_factor", "interval": "growth_interval"}
    return torch.amp.GradScaler("cpu", enabled=bool(given), **{names[key]: value for key, value in given.items()})


def train_step(model, optimizer, scaler, batches, spec, step, recorder):
    """Local mean loss and global gradient norm."""
    total = 0.0
    for micro_batch in range(spec["accumulation"]):
        last = micro_batch + 1 == spec["accumulation"]
        if spec["accumulation"] > 1:
            model.set_requires_gradient_sync(last or spec["sync"] == "every")
        tokens, targets = batches.load(step, micro_batch)
        logits = model(tokens)
        recorder.mark("Loss")
        loss = mean_loss(logits, targets)
        del logits
        scaler.scale(loss / spec["accumulation"]).backward()
        total += loss.item() / spec["accumulation"]
    norm = None
    scaler.unscale_(optimizer)
    if spec["clip_norm"] is not None:
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), spec["clip_norm"])
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return total, norm


def train(spec, rank, world, recorder):
    torch.set_num_threads(spec["threads"])
    model = make_model(spec)
    optimizer = make_optimizer(model, spec)
    scaler = make_scaler(spec)
    batches = SequentialBatches(spec, rank, world)
    losses, norms, seconds, collectives = [], [], [], {}
    for step in range(spec["steps"]):
        recorder.calls, recorder.on, recorder.watched = [], step in spec["record"], model
        began = time.perf_counter()
        loss, norm = train_step(model, optimizer, scaler, batches, spec, step, recorder)
        seconds.append(time.perf_counter() - began)
        recorder.on = False
        if step in spec["record"]:
            collectives[step] = recorder.calls
        losses.append(loss)
        norms.append(norm)
    losses = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(losses)
    norms = [float(norm.full_tensor() if isinstance(norm, DTensor) else norm) for norm in norms if norm is not None]
    answer = {"losses": (losses / world).tolist(), "gradient_norms": norms, "seconds": seconds, "collectives": collectives}
    return answer, model


def save(model, file, rank):
    weights = {name: parameter.full_tensor() for name, parameter in model.named_parameters()}
    if rank == 0:
        write_safetensors(file, weights)


def main():
    with open(sys.argv[1]) as file:
        specs = json.load(file)
    folder, rank, world = sys.argv[2], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    # Only a training that is recorded pays for the recorder.
    recorder = Recorder() if any(spec["record"] for spec in specs) else types.SimpleNamespace(calls=[], on=False, mark=lambda kind: None)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world)
    answers = []
    for spec in specs:
        answer, model = train(spec, rank, world, recorder)
        answers.append(answer)
        if spec["save_weights"]:
            save(model, spec["save_weights"], rank)
    if rank == 0:
        with open(os.path.join(folder, "answer.json"), "w") as file:
            json.dump(answers, file)
    # Gloo's destructors sometimes abort at a normal exit after the work is done.
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
