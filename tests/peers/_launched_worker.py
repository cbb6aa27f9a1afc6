"""A training that `accelerate launch` starts, as the exported file says that the program is to be. argv: the lines that the file leaves to the
program (JSON), who trains (loop, trainer), and the file in which rank 0 says what it then has: the units, what is in effect, collectives."""
import json
import sys

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from _recorder import Recorder

recorder = Recorder()  # before anybody takes the functions of torch.distributed
import accelerate.utils.dataclasses  # noqa: E402
from accelerate import Accelerator, PartialState  # noqa: E402
from accelerate.utils import DistributedType  # noqa: E402
from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainerCallback, TrainingArguments  # noqa: E402

# Without an accelerator accelerate shards nothing, whatever the file says. To it these ranks have one, which is the processor
# (ACCELERATE_TORCH_DEVICE); everything beyond is its own.
PartialState._prepare_backend = lambda *_, **__: ("gloo", DistributedType.MULTI_GPU)
accelerate.utils.dataclasses.is_cuda_available = lambda *_, **__: True
torch.cuda.current_device = lambda: "cpu"
# FSDP1 asks whether what rank 0 sends is on a GPU.
torch.distributed.fsdp._init_utils._check_module_states_for_sync_module_states = lambda *_: None

STEPS = 2


class Steps(TrainerCallback):
    """The collectives of every step, and its micro-batches; as a callback of the Trainer, which counts them without accelerate."""

    def __init__(self):
        self.collectives, self.micro_batches = [], []

    def on_step_begin(self, *_, **__):
        recorder.calls, recorder.on = [], True
        self.micro_batches.append(1)

    def on_substep_end(self, *_, **__):
        self.micro_batches[-1] += 1

    def on_step_end(self, *_, **__):
        recorder.on = False
        self.collectives.append(recorder.calls)


steps = Steps()


# What the file says of the program is run as it stands there.
def train_by_loop(said, names):
    accelerator = names["accelerator"] = eval(said["train.accumulation"].split(", with")[0], names)
    exec(said["model"], names)
    exec(said["train.optimizer"], names)
    loader = eval(said["train.micro_batch"], names)
    model, optimizer, loader = accelerator.prepare(names["model"], names["optimizer"], loader)
    names["model"], losses = model, []
    for place, batch in enumerate(loader):
        if place % accelerator.gradient_accumulation_steps == 0:
            steps.on_step_begin()
        with accelerator.accumulate(model):
            losses.append(model(**batch).loss)
            accelerator.backward(losses[-1])
            if accelerator.sync_gradients:
                eval(said["train.clip_norm"], names)
            optimizer.step()
            optimizer.zero_grad()
        steps.on_step_end() if accelerator.sync_gradients else steps.on_substep_end()
    return accelerator, model, [float(loss) for loss in losses]


def train_by_trainer(said, names):
    exec(said["model"], names)
    loader = eval(said["train.micro_batch"], names)
    accumulation = eval(said["train.accumulation"].split(", with")[0], {**names, "Accelerator": dict})["gradient_accumulation_steps"]
    arguments = TrainingArguments(output_dir="out", per_device_train_batch_size=loader.batch_size, gradient_accumulation_steps=accumulation,
                                  max_steps=STEPS, max_grad_norm=1.0, logging_strategy="no", save_strategy="no", report_to=[])
    trainer = Trainer(names["model"], arguments, train_dataset=names["data_set"], callbacks=[steps])
    result = trainer.train()
    return trainer.accelerator, trainer.model_wrapped, [result.training_loss]


def plain(name):
    return name.replace("_fsdp_wrapped_module.", "").replace("_fsdp_wrapped_module", "").removeprefix("module.")


def units_of(model):
    """The modules of every unit, in the order of the model."""
    units = {}
    for name, module in model.named_modules():
        if isinstance(module, FullyShardedDataParallel):
            units[id(module)] = [plain(name).rstrip(".")]
        elif isinstance(module, FSDPModule):
            group = module._get_fsdp_state()._fsdp_param_group
            units.setdefault(id(group) if group else id(module), []).append(name)
    return list(units.values())


def main():
    said, who, answer = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.manual_seed(0)
    tokens = int(said["model.sequence_length"].split()[-2])
    rows = [{"input_ids": torch.arange(tokens) % 50 + row, "labels": torch.arange(tokens) % 50 + row} for row in range(16)]
    names = {"torch": torch, "Accelerator": Accelerator, "DataLoader": DataLoader, "AutoConfig": AutoConfig,
             "AutoModelForCausalLM": AutoModelForCausalLM, "data_set": rows}
    accelerator, model, losses = {"loop": train_by_loop, "trainer": train_by_trainer}[who](said, names)
    plugin = accelerator.state.fsdp_plugin if accelerator.distributed_type == DistributedType.FSDP else None
    if accelerator.is_main_process:
        found = {"type": accelerator.distributed_type.name, "processes": accelerator.num_processes, "mixed": accelerator.mixed_precision,
                 "accumulation": steps.micro_batches[0], "version": plugin.fsdp_version if plugin else None,
                 "units": units_of(model), "losses": losses, "collectives": steps.collectives[:STEPS]}
        with open(answer, "w", encoding="utf-8") as file:
            json.dump(found, file)
    dist.barrier()
    dist.destroy_process_group()


main()
