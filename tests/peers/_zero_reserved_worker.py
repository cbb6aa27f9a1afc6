"""What torch's caching allocator hands out and reserves while real DeepSpeed trains a model of transformers on a GPU that computes nothing
(hollow_gpu/): by torch's own names at rest after deepspeed.initialize, its peak in there, in the first step and in two later ones, and the
host memory that was page-locked. Usage: _zero_reserved_worker.py CASES.json ANSWERS.json

The process group is torch's "fake" one: its collectives return at once. The model stands in host memory whose pages nobody has touched, as
large as it is said to be; engine and ZeRO move it to the GPU as ever.
"""
import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["DS_ACCELERATOR"] = "cuda"
import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers.masking_utils
import deepspeed
from torch.testing._internal.distributed.fake_pg import FakeStore
from transformers import AutoConfig, AutoModelForCausalLM

from hollow_gpu._peaks import answer_all, peaks
from _zero_configuration import configuration

deepspeed.utils.logger.setLevel("ERROR")
LATER_STEPS = 2
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}


def model_of(case):
    scenario = case["scenario"]
    config = AutoConfig.for_model(**{**case["config"], "use_cache": False})
    dtype = DTYPES.get(scenario.get("precision", {}).get("param"), torch.float32)
    attention = scenario["model"].get("attention", "auto").replace("auto", "sdpa")
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, attn_implementation=attention, dtype=dtype)


def takes_in_order(parallel):
    """ZeRO-1 takes gradients in the order of definition, when all of them are there."""
    return parallel["strategy"] == "zero1" and not parallel.get("zero", {}).get("overlap_comm")


def chosen_rank(case):
    """The rank that is real: the "heaviest", whose part of the flat vector lies in most elements of whole parameters, or the "first", which owns
    the end of what is reduced first."""
    parallel, ranks = case["scenario"]["parallel"], case["ranks"]
    if parallel["strategy"] not in ("zero1", "zero2"):
        return 0
    in_order = takes_in_order(parallel)
    if case["rank"] == "first":
        return 0 if in_order else ranks - 1
    sizes = [parameter.numel() for parameter in model_of(case).parameters()]
    if parallel.get("zero", {}).get("round_robin_gradients"):
        sizes = [size for first in range(ranks) for size in sizes[first::ranks]]
    part, touched, offset = -(-sum(sizes) // (2 * ranks)) * 2, [0] * ranks, 0
    for size in sizes:
        for rank in range(offset // part, (offset + size - 1) // part + 1):
            touched[rank] += size
        offset += size
    return max(range(ranks), key=lambda rank: (touched[rank], -rank if in_order else rank))


def made(case):
    scenario, model = case["scenario"], model_of(case)
    model.to_empty(device="cpu").tie_weights()
    if scenario.get("activation", {}).get("checkpoint") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.get_input_embeddings()._forward_hooks.clear()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    return deepspeed.initialize(model=model, optimizer=optimizer, config=configuration(scenario))[0]


def forward(scenario, engine, ids):
    if scenario["model"]["loss"]["place"] == "inside":
        return engine(input_ids=ids, labels=ids).loss
    logits = engine(input_ids=ids).logits
    loss = F.cross_entropy(logits.float().view(-1, logits.size(-1)), ids.view(-1))
    del logits
    return loss


def train_step(scenario, engine):
    train = scenario["train"]
    for _ in range(train["accumulation"]):
        ids = torch.zeros(train["micro_batch"], scenario["model"]["sequence_length"], dtype=torch.long, device="cuda")
        loss = forward(scenario, engine, ids)
        engine.backward(loss)
        del loss
        engine.step()


def answer(case):
    # It looks at values of kernels, which here are zeros.
    transformers.masking_utils.find_packed_sequence_indices = lambda *_: None
    torch.backends.cuda.enable_cudnn_sdp(False)
    rank = chosen_rank(case)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(case["ranks"]), LOCAL_RANK="0")  # as launchers say it
    dist.init_process_group("fake", rank=rank, world_size=case["ranks"], store=FakeStore())
    deepspeed.init_distributed(dist_backend="fake", auto_mpi_discovery=False)
    if case.get("history"):
        torch.cuda.memory._record_memory_history(stacks="python", max_entries=10**7)
    # BF16_Optimizer forgets peaks when it says what memory is used.
    forget, torch.cuda.reset_peak_memory_stats = torch.cuda.reset_peak_memory_stats, lambda *_: None
    engine = made(case)
    answers = {"setup": peaks()}
    torch.cuda.reset_peak_memory_stats = forget
    statistics = torch.cuda.memory_stats()
    answers["rest"] = {figure: statistics[figure + ".all.current"] for figure in answers["setup"]}
    for phase, steps in (("first", 1), ("later", LATER_STEPS)):
        torch.cuda.reset_peak_memory_stats()
        for _ in range(steps):
            train_step(case["scenario"], engine)
        torch.cuda.synchronize()
        answers[phase] = peaks()
    if case.get("history"):
        torch.cuda.memory._dump_snapshot(case["history"])
    answers["pinned"] = torch.cuda.host_memory_stats().get("allocated_bytes.peak", 0)
    return answers


answer_all(answer)
