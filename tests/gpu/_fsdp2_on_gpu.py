"""Trains one model with Python's own FSDP2 and prints what it measured as JSON. argv: the specification as JSON.

`compile`: each decoder layer through torch.compile, as PyTorch's own recipes do (torchtitan). SDPA chooses its kernels; AdamW is fused.
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import AutoConfig, AutoModelForCausalLM


def make_model(spec, device):
    config = AutoConfig.for_model(**spec["config"])
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", dtype=torch.float32)
    if spec.get("weights"):
        from safetensors.torch import load_file
        model.load_state_dict(load_file(spec["weights"]), strict=False)
    if spec["checkpoint"]:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    model.config.use_cache = False
    model.to(device).train()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for index, layer in enumerate(model.model.layers):
        if spec["compile"]:
            layer.compile()
        fully_shard(model.model.layers[index], mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return model


class Batches:
    """The order `train.order: sequential` defines, for one rank."""

    def __init__(self, spec):
        with open(spec["text"], "rb") as file:
            self.text = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).long()
        self.length, self.micro = spec["sequence_length"], spec["micro_batch"]
        self.sequences = (len(self.text) - 1) // self.length

    def load(self, step):
        starts = [(step * self.micro + i) % self.sequences * self.length for i in range(self.micro)]
        rows = torch.stack([self.text[start:start + self.length + 1] for start in starts])
        return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()


def main():
    spec = json.loads(sys.argv[1])
    cuda = torch.cuda.is_available() and not spec["rehearse"]
    device = torch.device("cuda", 0) if cuda else torch.device("cpu")
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(spec["port"]))
    dist.init_process_group("nccl" if cuda else "gloo")
    torch.manual_seed(0)
    model = make_model(spec, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=spec["learning_rate"], fused=True)
    batches, seconds, losses = Batches(spec), [], []
    for step in range(spec["warmup"] + spec["steps"]):
        tokens, targets = (t.to(device, non_blocking=True) for t in batches.load(step))
        if cuda:
            torch.cuda.synchronize()
        began = time.perf_counter()
        logits = model(tokens, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        del logits
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
        losses.append(loss.item())
    answer = {"seconds": seconds[spec["warmup"]:], "losses": losses, "torch": torch.__version__,
              "peak_allocated": torch.cuda.max_memory_allocated() if cuda else None,
              "peak_reserved": torch.cuda.max_memory_reserved() if cuda else None}
    print("ANSWER " + json.dumps(answer), flush=True)
    dist.destroy_process_group()


main()
