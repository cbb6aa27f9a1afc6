"""Writes cpu_two_steps.json.gz: two steps of a small network as torch.profiler records them on a processor, with memory.

    python3 make_cpu_trace.py [FILE]    needs torch; the file that is kept was recorded with torch 2.11
"""

import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile, schedule


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "cpu_two_steps.json.gz")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)

    def step():
        inputs, wanted = torch.randn(4, 8), torch.randint(0, 4, (4,))
        torch.nn.functional.cross_entropy(model(inputs), wanted).backward()
        optimizer.step()
        optimizer.zero_grad()

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True,
                 schedule=schedule(wait=1, warmup=1, active=2)) as profiler:
        for _ in range(4):
            step()
            profiler.step()
    profiler.export_chrome_trace(target)


main()
