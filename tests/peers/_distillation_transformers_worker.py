"""A plain distillation loop with transformers' own models: argument 1 is the file of specifications (a list: student, teacher, temperature,
weight), 2 the folder for the results, one folder a specification. Runs in the interpreter that has transformers."""
import json
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from _transformers_worker import BATCH, LENGTH, STEPS, batches, random_model


def loss_of(student, teacher, tokens, spec):
    inputs, targets = tokens[:, :-1], tokens[:, 1:].flatten()
    with torch.no_grad():
        known = teacher(input_ids=inputs, use_cache=False).logits.float().flatten(0, 1)
    learned = student(input_ids=inputs, use_cache=False).logits.float().flatten(0, 1)
    temperature, weight = spec["temperature"], spec["weight"]
    soft = F.kl_div(F.log_softmax(learned / temperature, -1), F.softmax(known / temperature, -1), reduction="batchmean")
    return (1 - weight) * F.cross_entropy(learned, targets) + weight * temperature ** 2 * soft


def tensors_of(model):
    return {name: p.detach().clone().contiguous() for name, p in model.named_parameters()}


def distil(spec, folder, seed):
    folder.mkdir()
    student, teacher = random_model(spec["student"], seed), random_model(spec["teacher"], seed + 100).eval()
    stream = torch.randint(0, spec["student"]["vocab_size"], (STEPS * BATCH * LENGTH + 1,), generator=torch.Generator().manual_seed(seed))
    stream.numpy().astype(numpy.uint16).tofile(folder / "tokens.bin")
    for name, model in (("student", student), ("teacher", teacher)):
        (folder / f"{name}.json").write_text(json.dumps(spec[name]))
        save_file(tensors_of(model), folder / f"{name}.safetensors")
    loss_of(student, teacher, next(batches(stream)), spec).backward()
    save_file({name: p.grad.clone().contiguous() for name, p in student.named_parameters()}, folder / "gradients.safetensors")
    student.zero_grad()
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-5, weight_decay=0.1)
    losses = []
    for tokens in batches(stream):
        loss = loss_of(student, teacher, tokens, spec)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    save_file(tensors_of(student), folder / "trained.safetensors")
    (folder / "answer.json").write_text(json.dumps({"losses": losses}))


def main():
    torch.set_num_threads(1)
    with open(sys.argv[1]) as file:
        specs = json.load(file)
    for seed, spec in enumerate(specs):
        distil(spec, pathlib.Path(sys.argv[2]) / str(seed), seed + 1)


main()
