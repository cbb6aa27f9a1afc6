"""One rank of trainings by DeepSpeed whose live bytes are counted from the model's first tensor on. argv: cases (JSON file) and the folder
to answer in. Rank 0 answers for each the highest of forward, backward and update on any rank, and what rests on rank 0 after a step."""
import gc
import json

import torch
import torch.nn.functional as F

counting = []  # the LiveBytes that counts, if any
reduce_and_scatter = torch.distributed.reduce_scatter_tensor


def without_gloos_copies(*args, **kwargs):
    """Gloo reduces and scatters by an all-reduce of a copy, which no other library takes."""
    for live in counting:
        live.paused = True
    try:
        return reduce_and_scatter(*args, **kwargs)
    finally:
        for live in counting:
            live.paused = False


torch.distributed.reduce_scatter_tensor = without_gloos_copies  # before DeepSpeed takes it
import deepspeed  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

from _live_bytes import LiveBytes  # noqa: E402
from _rank import answer  # noqa: E402
from _zero_configuration import configuration  # noqa: E402

deepspeed.utils.logger.setLevel("ERROR")
STEPS, RECORDED = 2, 3  # before those that are recorded, and these


def made(scenario):
    with open(scenario["model"]["config"]) as file:
        config = json.load(file)
    model = LlamaForCausalLM(LlamaConfig(**config, use_cache=False, attn_implementation="sdpa"))
    if scenario.get("activation", {}).get("checkpoint") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.get_input_embeddings()._forward_hooks.clear()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    deepspeed.utils.groups._ZERO_PARAM_INTRA_PARALLEL_GROUP = None  # of the training before: it asks for one in a process
    return deepspeed.initialize(model=model, optimizer=optimizer, config=configuration(scenario), dist_init_required=False)[0]


def train_step(engine, live, scenario, vocabulary, record):
    train = scenario["train"]
    for _ in range(train.get("accumulation", 1)):
        live.phase = "forward" if record else ""
        ids = torch.randint(0, vocabulary, (train["micro_batch"], scenario["model"]["sequence_length"]))
        logits = engine(input_ids=ids).logits
        loss = F.cross_entropy(logits.float().view(-1, vocabulary), ids.view(-1))
        del logits
        live.phase = "backward" if record else ""
        engine.backward(loss)
        del loss
        live.phase = "optimizer" if record else ""
        engine.step()


def recorded_step(engine, live, scenario):
    live.peaks.clear()
    train_step(engine, live, scenario, engine.module.config.vocab_size, record=True)
    return {phase: peak for phase, peak in live.peaks.items() if phase}


def run(case, rank, world):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gc.collect()
    with LiveBytes() as live:
        counting.append(live)
        engine = made(case["scenario"])
        for _ in range(STEPS):
            train_step(engine, live, case["scenario"], engine.module.config.vocab_size, record=False)
        steps = [recorded_step(engine, live, case["scenario"]) for _ in range(RECORDED)]
        gc.collect()
        rest = live.live()
    counting.clear()
    # A thread of Gloo may hold what it gathered a moment longer: in the lowest step it does not.
    peaks, of_ranks = {phase: min(step[phase] for step in steps) for phase in steps[0]}, [None] * world
    torch.distributed.all_gather_object(of_ranks, peaks)
    return {"peaks": {phase: max(each[phase] for each in of_ranks) for phase in peaks}, "rest": rest}


answer(run, prepare=lambda: deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False))
