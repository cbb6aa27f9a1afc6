"""One rank of trainings by PyTorch's DDP, FSDP1 and FSDP2. argv: scenarios (JSON file, a list of {scenario, config, text, weights,
steps}) and the folder to answer in. Rank 0 writes answer.json: for each the losses and the collectives of every step, or the error."""
import torch

from _fsdp2_worker import SequentialBatches
from _llama import LlamaForCausalLM, mean_loss, read_safetensors
from _rank import answer, record_steps
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
    if "clip_norm" in train:
        clip(model, train["clip_norm"])
    optimizer.step()
    optimizer.zero_grad()
    return total


def run(case, rank, world):
    torch.set_num_threads(1)
    scenario = case["scenario"]
    train, length = scenario["train"], scenario["model"]["sequence_length"]
    model = LlamaForCausalLM(case["config"], length)
    model.load_state_dict(read_safetensors(case["weights"]), strict=not case["config"].get("tie_word_embeddings"))
    model = wrapped(model, scenario)
    optimizer = torch.optim.AdamW(model.parameters(), lr=train["learning_rate"], weight_decay=0.01)
    spec = {"text": case["text"], "sequence_length": length, "micro_batch": train["micro_batch"], "accumulation": train["accumulation"]}
    batches = SequentialBatches(spec, rank, world)
    return record_steps(recorder, case, world, lambda step: train_step(model, optimizer, batches, scenario, step))


recorder = Recorder()
answer(run)
