"""What Python's torch does on this GPU where we may choose: cuDNN's attention beside flash, forward and backward, for heads and lengths of
real models, and products of bfloat16 with a float32 result. argv: the file for the JSON. SHARDLAB_REHEARSE=1: on a processor, small."""
import json
import os
import statistics
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

REHEARSE = os.environ.get("SHARDLAB_REHEARSE") == "1"
if not REHEARSE and not torch.cuda.is_available():
    print("skipped: no GPU")
    sys.exit(77)
DEVICE = "cpu" if REHEARSE else "cuda"
SHAPES = [(1, 2, 64, 64)] if REHEARSE else [(4, 32, 4096, 64), (1, 32, 4096, 128), (1, 32, 8192, 128)]
WAYS = {"math": SDPBackend.MATH} if REHEARSE else {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
results = {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(), "attention": [], "products": []}


def milliseconds(work, repeats=10):
    work()
    samples = []
    for _ in range(3):
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(repeats):
            work()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        samples.append((time.perf_counter() - began) / repeats * 1e3)
    return statistics.median(samples)


def save():
    with open(sys.argv[1], "w", encoding="utf-8") as stream:
        json.dump(results, stream, indent=1)


for batch, heads, length, width in SHAPES:
    for way, backend in WAYS.items():
        row = {"way": way, "batch": batch, "heads": heads, "length": length, "width": width}
        try:
            q, k, v = (torch.randn(batch, length, heads, width, device=DEVICE, dtype=torch.bfloat16).transpose(1, 2).requires_grad_()
                       for _ in range(3))
            with sdpa_kernel(backend):
                forward = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                row["forward_ms"] = milliseconds(forward)
                out = forward()
                gradient = torch.randn_like(out)
                row["backward_ms"] = milliseconds(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))
        except RuntimeError as error:
            row["failed"] = str(error).splitlines()[0]
        results["attention"].append(row)
        print(row, flush=True)
        save()

for m, n, k in [(64, 32, 16)] if REHEARSE else [(8192, 2048, 16384), (2048, 2048, 16384), (14336, 4096, 4096)]:
    row = {"m": m, "n": n, "k": k}
    a = torch.randn(k, m, device=DEVICE, dtype=torch.bfloat16).t()
    b = torch.randn(k, n, device=DEVICE, dtype=torch.bfloat16)
    row["bfloat16_ms"] = milliseconds(lambda: torch.mm(a, b))
    try:
        row["float32_result_ms"] = milliseconds(lambda: torch.mm(a, b, out_dtype=torch.float32))
    except (RuntimeError, TypeError) as error:
        row["failed"] = str(error).splitlines()[0]
    results["products"].append(row)
    print(row, flush=True)
    save()
