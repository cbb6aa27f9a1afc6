"""What transformers makes of small models: weights, logits, gradients of one batch, a short training, what autograd keeps. Runs in the
interpreter that has transformers and peft: argument 1 is the file with a dictionary of models, 2 the folder for the results, one folder
a model. A model is {"config": ..., "model": other settings of the scenario's section of that name}.
"""
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy
import torch
import torch.nn.functional as F
from peft import LoraConfig, inject_adapter_in_model
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _kept_by_blocks import write_kept

BATCH, LENGTH, STEPS = 2, 24, 6


def random_model(config, seed):
    """In float32, with weights that leave nothing at a neutral value: norms near their 1 or 0, biases not 0."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), dtype=torch.float32).train()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.2 * torch.randn_like(parameter)
    return model


def with_adapters(model, lora):
    """B is zero in the beginning, so that A would have no gradient: here it is not."""
    targets = {"all-linear": "all-linear", "peft-default": None}.get(lora["targets"][0], lora["targets"])
    model = inject_adapter_in_model(LoraConfig(r=lora["rank"], lora_alpha=lora.get("alpha", 8), target_modules=targets,
                                               modules_to_save=lora.get("modules_to_save")), model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter += 0.1 * torch.randn_like(parameter)
    return model


def loss_of(model, tokens):
    """Logits and the mean cross-entropy of the next tokens, with what the model adds to it."""
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    out = model(input_ids=inputs, use_cache=False)
    loss = F.cross_entropy(out.logits.float().flatten(0, 1), targets.flatten())
    if model.config.to_dict().get("output_router_logits"):
        loss = loss + model.config.router_aux_loss_coef * out.aux_loss
    return out.logits, loss


def batches(stream):
    """Sequences of a step follow each other in the stream; the target of a position is the next token."""
    for step in range(STEPS):
        first = [(step * BATCH + b) * LENGTH for b in range(BATCH)]
        yield torch.stack([stream[at:at + LENGTH + 1] for at in first])


def one_batch(model, tokens, file):
    logits, loss = loss_of(model, tokens)
    loss.backward()
    tensors = {"gradient." + name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    tensors.update(logits=logits.detach().contiguous(), loss=loss.detach().reshape(1), tokens=tokens.float())
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, file)
    model.zero_grad()


def train(model, stream):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-5, weight_decay=0.1)
    losses, norms = [], []
    for tokens in batches(stream):
        _, loss = loss_of(model, tokens)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses, norms


def write_model(spec, folder, seed):
    folder.mkdir()
    config = spec["config"]
    model = random_model(config, seed)
    if "lora" in spec["model"]:
        model = with_adapters(model, spec["model"]["lora"])
    stream = torch.randint(0, config["vocab_size"], (STEPS * BATCH * LENGTH + 1,), generator=torch.Generator().manual_seed(seed))
    (folder / "config.json").write_text(json.dumps(config))
    stream.numpy().astype(numpy.uint16).tofile(folder / "tokens.bin")
    parameters = dict(model.named_parameters())
    save_file({name: p.detach().clone().contiguous() for name, p in parameters.items()}, folder / "weights.safetensors")
    one_batch(model, next(batches(stream)), folder / "expected.safetensors")
    if not spec["model"]:  # a family as it is
        write_kept(config, folder / "kept.txt")
    losses, norms = train(model, stream)
    save_file({name: p.detach().clone().contiguous() for name, p in model.named_parameters()}, folder / "trained.safetensors")
    (folder / "answer.json").write_text(json.dumps({
        "losses": losses, "gradient_norms": norms, "parameters": [[name, list(p.shape)] for name, p in parameters.items()],
        "trained": sum(p.numel() for p in parameters.values() if p.requires_grad),
        "modules": [[path, type(module).__name__] for path, module in model.named_modules()]}))


def main():
    torch.set_num_threads(1)
    models, out = map(pathlib.Path, sys.argv[1:3])
    for seed, (name, spec) in enumerate(json.loads(models.read_text()).items()):
        write_model(spec, out / name, seed + 1)


if __name__ == "__main__":
    main()
