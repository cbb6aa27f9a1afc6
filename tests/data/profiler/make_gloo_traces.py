"""Writes gloo_fsdp2_rank0.json.gz and gloo_fsdp2_rank1.json.gz: two steps of a small Llama-like model under FSDP2 on two processes
over Gloo, as torch.profiler records them, with memory and shapes.

    python3 make_gloo_traces.py [FOLDER]    needs torch; the files that are kept were recorded with torch 2.11

Memory that was allocated before the profiler began (parameters, gathered once for the first steps) is not in them.
"""

import gzip
import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.profiler import ProfilerActivity, profile, schedule

WIDTH, HEADS, LAYERS, VOCABULARY = 32, 4, 2, 64
# What a reader of profiles uses; arrows and most arguments are the larger part of a file.
KEPT_CATEGORIES = {"cpu_op", "user_annotation", "cpu_instant_event"}
KEPT_ARGUMENTS = {"Total Allocated", "Device Type"}
KEPT_OF_COLLECTIVES = {"Input Dims", "Input type"}


class LlamaDecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_norm, self.mlp_norm = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv, self.o_proj = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate_up, self.down_proj = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        heads = self.qkv(self.input_norm(x)).unflatten(-1, (3, HEADS, WIDTH // HEADS)).transpose(1, 3)
        q, k, v = heads.unbind(2)
        x = x + self.o_proj(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, -1)
        return x + self.down_proj(nn.functional.silu(gate) * up)


class SmallLlama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(LlamaDecoderLayer() for _ in range(LAYERS))
        self.norm, self.lm_head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def shorten(source, target):
    with open(source, encoding="utf-8") as file:
        trace = json.load(file)
    events = []
    for event in trace["traceEvents"]:
        if event.get("cat") not in KEPT_CATEGORIES:
            continue
        kept = KEPT_OF_COLLECTIVES if event["name"].startswith(("gloo:", "c10d::")) else KEPT_ARGUMENTS
        event["args"] = {name: value for name, value in event.get("args", {}).items() if name in kept}
        events.append(event)
    frame = {name: trace[name] for name in ("schemaVersion", "distributedInfo", "baseTimeNanoseconds") if name in trace}
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write(json.dumps({**frame, "traceEvents": events}, separators=(",", ":")).encode())


def train(rank, world, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29517"))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    mesh = init_device_mesh("cpu", (world,))
    model = SmallLlama()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True,
                 schedule=schedule(wait=1, warmup=1, active=2)) as profiler:
        for _ in range(4):
            tokens = torch.randint(0, VOCABULARY, (2, 17))
            logits = model(tokens[:, :-1])
            nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    whole = os.path.join(folder, f"whole_rank{rank}.json")
    profiler.export_chrome_trace(whole)
    shorten(whole, os.path.join(folder, f"gloo_fsdp2_rank{rank}.json.gz"))
    os.remove(whole)
    dist.destroy_process_group()


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    multiprocessing.spawn(train, args=(2, target), nprocs=2)
