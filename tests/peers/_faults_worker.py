"""One rank of a training of a few layers, with a mistake that argv[1] names; argv[2] is where dumps of the flight recorder go."""
import datetime
import os
import resource
import signal
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn.parallel import DistributedDataParallel


def layers(rank=0, widths=(16, 16)):
    torch.manual_seed(1)
    return nn.Sequential(*(nn.Linear(16 if i == 0 else widths[i - 1], width) for i, width in enumerate(widths)))


def train(model, rank, steps=3, after=lambda step: None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        loss = model(torch.randn(4, 16)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        after(step)


def fsdp2(rank):
    model = layers()
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    return model


def fsdp1(model, **options):
    return FullyShardedDataParallel(model, device_id=torch.device("cpu"), **options)


# Each gets the rank and the number of ranks.
def killed(rank, world):
    train(fsdp2(rank), rank, after=lambda step: os.kill(os.getpid(), signal.SIGKILL) if rank == 1 and step == 1 else None)


def other_models(rank, world):
    DistributedDataParallel(layers(widths=(16, 16 + 8 * rank)))


def unused_parameters(rank, world):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x):
            return self.used(x)

    train(DistributedDataParallel(Model()), rank)


def two_types(rank, world):
    model = layers()
    model[1].to(torch.bfloat16)
    fsdp1(model)


def frozen_and_not(rank, world):
    model = layers()
    model[0].requires_grad_(False)
    fsdp1(model, use_orig_params=False)


def plain_meets_distributed(rank, world):
    model = layers()
    fully_shard(model[0])
    model[0].weight + torch.ones(16, 16)


def keys_differ(rank, world):
    layers().load_state_dict({"module.0.weight": torch.zeros(16, 16)})


def index_outside(rank, world):
    nn.Embedding(10, 16)(torch.tensor([11]))


def broken_file(rank, world):
    path = f"{sys.argv[2]}/broken_{rank}.pt"
    torch.save({"a": torch.zeros(1000)}, path)
    with open(path, "r+b") as file:
        file.truncate(1000)
    torch.load(path)


def one_step_less(rank, world):
    train(DistributedDataParallel(layers()), rank, steps=3 - rank)
    if rank == 1:
        os._exit(0)


def calls_another_watched(rank, world):
    x = torch.ones(8)
    if rank == 1:
        dist.all_gather([torch.zeros(8) for _ in range(world)], x)
    else:
        dist.all_reduce(x)


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.zeros(1 << 18)


def few_open_files(rank, world):
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    held = list(torch.utils.data.DataLoader(Samples(), num_workers=2))
    print(len(held))


def little_shared_memory(rank, world):
    next(iter(torch.utils.data.DataLoader(Samples(), num_workers=1, batch_size=8)))


def little_host_memory(rank, world):
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    torch.zeros(1 << 33)


def full_disk(rank, world):
    torch.save(torch.zeros(1 << 22), f"{sys.argv[2]}/model_{rank}.pt")


def other_world(rank, world):
    """Each rank keeps its part of the parameters, as some programs save them, and one process loads it."""
    model = layers()
    fully_shard(model)
    parts = {name: tensor.to_local() for name, tensor in model.state_dict().items()}
    layers().load_state_dict(parts)


def half_overflows(rank, world):
    model = DistributedDataParallel(layers().half())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e3)
    for step in range(8):
        loss = (model(torch.randn(4, 16).half()) * 100).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print({"step": step, "loss": loss.item()}, flush=True)


def limited_group(rank, world):
    held = [torch.ones(1 << 24) for _ in range(100 if rank == 1 else 0)]
    dist.all_reduce(torch.ones(4 + len(held)))


def skips_one(rank, world):
    x = torch.ones(8)
    dist.all_reduce(x)
    if rank != 1:
        dist.all_reduce(x, async_op=True)
    dump(rank, after=3)


def calls_another(rank, world):
    x = torch.ones(8)
    dist.all_reduce(x)
    if rank == 1:
        dist.all_gather([torch.zeros(8) for _ in range(world)], x, async_op=True)
    else:
        dist.all_reduce(x, async_op=True)
    dump(rank, after=3)


def other_sizes(rank, world):
    x = torch.ones(8)
    dist.all_reduce(x)
    if rank != 2:  # who sends: where sizes meet, Gloo ends the process
        dist.broadcast(torch.ones(8 + 8 * rank), 2, async_op=True)
    dump(rank, after=3)


def all_is_well(rank, world):
    train(fsdp2(rank), rank)
    dump(rank)


def dump(rank, after=0):
    """After `after` seconds: a wait of less than two is none."""
    from torch._C._distributed_c10d import _dump_fr_trace
    time.sleep(after)
    with open(f"{sys.argv[2]}/trace_rank_{rank}", "wb") as file:
        file.write(_dump_fr_trace())
    time.sleep(1)  # until every rank has: an end is an error for those that wait
    os._exit(0)


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    globals()[sys.argv[1]](dist.get_rank(), dist.get_world_size())
    dist.destroy_process_group()


main()
