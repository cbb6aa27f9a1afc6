#!/usr/bin/env python3
# llama3-8b-fsdp2-8xh100, for script torch 2.11. Written by shardlab from llama3-8b-fsdp2-8xh100.yaml.
# Predicted of the scenario: step 561 ms, peak allocated 38.5 GiB
"""Trains llama3-8b-fsdp2-8xh100: fully_shard of PyTorch 2.11.

    torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-endpoint=HEAD:29500 llama3-8b-fsdp2-8xh100.train.py
"""
import argparse
import gc
import json
import os
import pathlib
import platform
import statistics
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy
from torch.distributed.fsdp import fully_shard
from transformers import AutoConfig, AutoModelForCausalLM

MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 128000,
    "eos_token_id": 128001,
    "hidden_act": "silu",
    "hidden_size": 4096,
    "initializer_range": 0.02,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 128256,
}  # config.json
SEQUENCE_LENGTH = 4096  # tokens
MICRO_BATCH = 1  # sequences of a rank in one forward
ACCUMULATION = 1  # micro-batches of a step
RANKS = 16
DEVICE = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
WARMUP, STEPS = 3, 13  # of which the first are not measured
SEED = 1
DATA = ["/work/w1/assets/data/licenses.txt"]  # text, whose bytes are tokens, or .bin files of uint16 tokens
WEIGHTS = None  # safetensors; None: random

SCENARIO = """\
name: llama3-8b-fsdp2-8xh100
description: "Llama-3-8B on one node of eight H100"
model:
  config: llama-3-8b
  sequence_length: 4096
cluster:
  node: dgx-h100
  nodes: 2
  gpus_per_node: 8
parallel:
  strategy: fsdp2
  wrap:
    classes: [LlamaDecoderLayer]
precision:
  param: bfloat16
  reduce: float32
train:
  learning_rate: 0.0003
  clip_norm: 1
  data: [assets/data/licenses.txt]
"""


class Record:
    """Times and losses of the steps, and what --record keeps of them: record.json and, of a few steps more, a profile of every rank."""

    PROFILED = 2  # steps

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) if folder else None
        self.seconds, self.losses, self.memory = [], [], {}
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)

    def step(self, run):
        if len(self.seconds) == WARMUP:
            torch.cuda.reset_peak_memory_stats()
        began = time.perf_counter()
        self.losses.append(run())
        torch.cuda.synchronize()
        self.seconds.append(time.perf_counter() - began)

    def profile(self, run):
        """Steps after the measured ones, for the profiler makes them longer."""
        if not self.folder:
            return
        torch.cuda.memory._record_memory_history(max_entries=1000000)
        with torch.profiler.profile(profile_memory=True, record_shapes=True, acc_events=True) as profiler:
            for step in range(len(self.seconds), len(self.seconds) + self.PROFILED):
                with torch.profiler.record_function(f"ProfilerStep#{step}"):
                    run(step)
                    torch.cuda.synchronize()
        trace = self.folder / f"rank{dist.get_rank()}.trace.json"
        profiler.export_chrome_trace(str(trace))
        torch.cuda.memory._dump_snapshot(str(self.folder / f"rank{dist.get_rank()}.memory.pickle"))
        torch.cuda.memory._record_memory_history(enabled=None)

    def finish(self):
        """Rank 0 says and keeps how it went."""
        self.memory = {"peak_allocated": torch.cuda.max_memory_allocated(), "peak_reserved": torch.cuda.max_memory_reserved()}
        losses = torch.stack(self.losses)
        dist.all_reduce(losses)
        mine = {"rank": dist.get_rank(), "seconds": self.seconds, **self.memory}
        ranks = [None] * dist.get_world_size()
        dist.all_gather_object(ranks, mine)
        if dist.get_rank() > 0:
            return
        warmup = min(WARMUP, len(self.seconds) - 1)
        steps = [max(times) for times in zip(*(rank["seconds"] for rank in ranks))][warmup:]
        print(f"step {statistics.median(steps):.6f} s in the median of {len(steps)}")
        if self.memory:
            print(f"peak allocated {max(rank['peak_allocated'] for rank in ranks)} bytes")
        if self.folder:
            versions = {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__}
            record = {"format": "shardlab-record", "version": 1, "scenario": SCENARIO, "device": torch.cuda.get_device_name(), "versions": versions,
                      "warmup": warmup, "losses": (losses / len(ranks)).tolist(), "ranks": ranks}
            (self.folder / "record.json").write_text(json.dumps(record, indent=1))

GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def mixed(state):
    state &= MASK
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


class Batches:
    """The sequences of all files, one after the other. A step takes the next global batch, every rank its equal part of it."""

    def __init__(self, files):
        self.files = [np.memmap(file, np.uint16 if file.endswith(".bin") else np.uint8, "r") for file in files]
        # The last token of a file is a target only.
        self.ends = np.cumsum([(len(file) - 1) // SEQUENCE_LENGTH for file in self.files])
        if self.ends[-1] == 0:
            sys.exit(f"{files}: less than one sequence of {SEQUENCE_LENGTH} tokens and its last target")
        self.shuffled = (None, [])  # epoch and its order

    def order(self, epoch):
        """Of the sequences: Fisher and Yates by splitmix64, the same on every rank and machine."""
        if self.shuffled[0] != epoch:
            values, state = list(range(int(self.ends[-1]))), mixed(SEED * GOLDEN + mixed(epoch + GOLDEN))
            for i in range(len(values), 1, -1):
                state = (state + GOLDEN) & MASK
                j = mixed(state) * i >> 64
                values[i - 1], values[j] = values[j], values[i - 1]
            self.shuffled = (epoch, values)
        return self.shuffled[1]

    def sequence(self, k):
        index = self.order(k // int(self.ends[-1]))[k % int(self.ends[-1])]
        file = int(np.searchsorted(self.ends, index, side="right"))
        start = (index - (self.ends[file - 1] if file else 0)) * SEQUENCE_LENGTH
        return self.files[file][start:start + SEQUENCE_LENGTH + 1]

    def load(self, step, micro_batch):
        """Tokens and, one further, targets."""
        first = ((step * dist.get_world_size() + dist.get_rank()) * ACCUMULATION + micro_batch) * MICRO_BATCH
        rows = np.stack([self.sequence(first + row) for row in range(MICRO_BATCH)])
        batch = torch.from_numpy(rows.astype(np.int64)).to(DEVICE)
        return batch[:, :-1].contiguous(), batch[:, 1:].contiguous()


def next_token_loss(logits, labels, *_, **__):
    """The labels are one token further already."""
    return F.cross_entropy(logits.float().flatten(0, 1), labels.flatten())


def read_weights(path):
    path = pathlib.Path(path)
    files = set(json.loads(path.read_text())["weight_map"].values()) if path.suffix == ".json" else {path.name}
    return {name: tensor for file in sorted(files) for name, tensor in load_file(path.parent / file).items()}


def make_model(weights):
    config = AutoConfig.for_model(**MODEL | {"use_cache": False})
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="sdpa")
    if weights:
        model.load_state_dict(read_weights(weights), strict=not config.tie_word_embeddings)
    model.loss_function = next_token_loss
    return model.train()


def fill_from_rank0(model, whole):
    """Everything so far had shapes alone. Rank 0 sends the values; `whole` is its model, of the others None."""
    model.to_empty(device=DEVICE)
    if model.config.tie_word_embeddings:
        model.tie_weights()
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(model, whole.state_dict() if whole else {}, options=options)
    values = dict(whole.named_buffers()) if whole else {}
    for name, buffer in model.named_buffers():
        if whole:
            buffer.copy_(values[name])
        dist.broadcast(buffer, 0)
    gc.collect()  # what was sent hangs in cycles and would go at some later step


def shard(model):
    """Units from the inside out: each is gathered before it runs, and its gradients are reduced as one."""
    common = {"mesh": init_device_mesh(DEVICE.type, (dist.get_world_size(),))}
    units = [module for module in model.modules() if type(module).__name__ in ("LlamaDecoderLayer",)]
    for unit in reversed(units):
        fully_shard(unit, **common, reshard_after_forward=True, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    fully_shard(model, **common, reshard_after_forward=False, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    return model


def make_optimizer(model):
    return torch.optim.AdamW(model.parameters(), lr=0.0003, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, fused=True)


def train_step(model, optimizer, batches, step):
    """One update. The mean loss of this rank's tokens, on the device: reading it would make the host wait."""
    mean = torch.zeros((), device=DEVICE)
    for micro_batch in range(ACCUMULATION):
        tokens, targets = batches.load(step, micro_batch)
        loss = model(input_ids=tokens, labels=targets).loss
        loss.backward()
        mean += loss.detach() / ACCUMULATION
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    optimizer.zero_grad()
    return mean


def options_of_command():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=DATA, help="files to train on")
    parser.add_argument("--weights", default=WEIGHTS, help="safetensors to begin with: a file, or the index of several")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps to train [{STEPS}]")
    parser.add_argument("--record", metavar="DIR", help="keep times, losses, memory and a profile there")
    return parser.parse_args()


def main():
    options = options_of_command()
    if not options.data:
        sys.exit("--data is required: the scenario names none")
    if options.steps < 1:
        sys.exit(f"--steps {options.steps}: has to be 1 or more")
    torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl", device_id=DEVICE)
    if dist.get_world_size() != RANKS:
        sys.exit(f"this program is for {RANKS} ranks, not {dist.get_world_size()}")
    torch.manual_seed(SEED)
    batches, record = Batches(options.data), Record(options.record)
    with torch.device("meta"):
        model = shard(make_model(None))
    fill_from_rank0(model, make_model(options.weights) if dist.get_rank() == 0 else None)
    optimizer = make_optimizer(model)
    for step in range(options.steps):
        record.step(lambda: train_step(model, optimizer, batches, step))
        if dist.get_rank() == 0:
            print(f"step {step}: loss {record.losses[-1].item():.6f} on rank 0, {record.seconds[-1]:.4f} s", flush=True)
    record.profile(lambda step: train_step(model, optimizer, batches, step))
    record.finish()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
