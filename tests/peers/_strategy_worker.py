"""One rank of trainings by PyTorch's DDP, FSDP1 and FSDP2. argv: scenarios (JSON file, a list of {scenario, config, text, weights,
steps}) and the folder to answer in. Rank 0 writes answer.json: for each the losses and the collectives of every step, or the error."""
import json
import os
import sys

import torch
import torch.distributed as dist

from _fsdp2_worker import SequentialBatches
from _llama import LlamaForCausalLM, mean_loss, read_safetensors
from _recorder import Recorder
from _strategies import clip, synchronised, wrapped


def train_step(model, optimizer, batches, scenario, step):
    train, total = scenario["train"], 0.0
    for micro_batch in range(train["accumulation"]):
        tokens, targets = batches.load(step, micro_batch)
        with synchronised(model, scenario, micro_batch):
            loss = mean_loss(model(tokens), targets)
            (loss / train["accumulation"]).backward()
        total += loss.item() / train["accumulation"]
    norm = clip(model, train["clip_norm"]) if "clip_norm" in train else None
    optimizer.step()
    optimizer.zero_grad()
    return total, norm


def run(case, rank, world, recorder):
    torch.set_num_threads(1)
    scenario = case["scenario"]
    train, length = scenario["train"], scenario["model"]["sequence_length"]
    model = LlamaForCausalLM(case["config"], length)
    model.load_state_dict(read_safetensors(case["weights"]), strict=not case["config"].get("tie_word_embeddings"))
    model = wrapped(model, scenario)
    optimizer = torch.optim.AdamW(model.parameters(), lr=train["learning_rate"], weight_decay=0.01)
    spec = {"text": case["text"], "sequence_length": length, "micro_batch": train["micro_batch"], "accumulation": train["accumulation"]}
    batches = SequentialBatches(spec, rank, world)
    losses, collectives = [], []
    for step in range(case["steps"]):
        recorder.calls, recorder.on = [], True
        loss, _ = train_step(model, optimizer, batches, scenario, step)
        recorder.on = False
        collectives.append(recorder.calls)
        losses.append(loss)
    losses = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(losses)
    return {"losses": (losses / world).tolist(), "collectives": collectives}


def main():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    folder, rank, world = sys.argv[2], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    recorder = Recorder()
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world)
    answers = [run(case, rank, world, recorder) for case in cases]
    if rank == 0:
        with open(os.path.join(folder, "answer.json"), "w") as file:
            json.dump(answers, file)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # Gloo's destructors sometimes abort at a normal exit after the work is done


main()
