"""One rank of trainings by DeepSpeed. argv: scenarios (JSON file, a list of {scenario, config, text, weights, steps}) and the folder to
answer in. Rank 0 writes answer.json: for each the losses and the collectives of every step. Needs DS_ACCELERATOR=cpu where no GPU is."""
import torch

from _recorder import Recorder

recorder = Recorder()  # before DeepSpeed takes the functions of torch.distributed
import deepspeed  # noqa: E402

from _fsdp2_worker import SequentialBatches  # noqa: E402
from _llama import mean_loss, read_safetensors  # noqa: E402
from _rank import answer, record_steps  # noqa: E402
from _strategies import freeze  # noqa: E402
from _zero_configuration import configuration  # noqa: E402
from peft import LoraConfig, get_peft_model  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402

deepspeed.utils.logger.setLevel("ERROR")
# Without special instructions of the processor DeepSpeed refuses float16 there; torch computes it all the same.
deepspeed.accelerator.get_accelerator().is_fp16_supported = lambda: True


def load(case):
    """The model with its weights, as people wrap it where it has adapters."""
    config = AutoConfig.for_model(**case["config"], use_cache=False)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32)
    weights, lora = read_safetensors(case["weights"]), case["scenario"]["model"].get("lora")
    if lora:
        model = get_peft_model(model, LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules=lora["targets"]))
        weights = {f"base_model.model.{name}": tensor for name, tensor in weights.items()}
    model.load_state_dict(weights, strict=not case["config"].get("tie_word_embeddings"))
    return model


def train_step(engine, batches, accumulation, step):
    total = 0.0
    for micro_batch in range(accumulation):
        tokens, targets = batches.load(step, micro_batch)
        loss = mean_loss(engine(tokens).logits, targets)
        engine.backward(loss)
        engine.step()
        total += loss.item() / accumulation
    return total


def run(case, rank, world):
    torch.set_num_threads(1)
    scenario = case["scenario"]
    train, length = scenario["train"], scenario["model"]["sequence_length"]
    model = load(case)
    if scenario.get("activation", {}).get("checkpoint") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.get_input_embeddings()._forward_hooks.clear()  # beside adapters its output would require gradients, which reentrant checkpoints need
    freeze(model, scenario["model"].get("frozen", []))
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=train["learning_rate"], weight_decay=0.01)
    deepspeed.utils.groups._ZERO_PARAM_INTRA_PARALLEL_GROUP = None  # of the training before: it asks for one in a process
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=configuration(scenario), dist_init_required=False)
    spec = {"text": case["text"], "sequence_length": length, "micro_batch": train["micro_batch"], "accumulation": train["accumulation"]}
    batches = SequentialBatches(spec, rank, world)
    skipped = []

    def one_step(step):
        loss = train_step(engine, batches, train["accumulation"], step)
        skipped.append(engine.skipped_steps)
        return loss
    made = record_steps(recorder, case, world, one_step)
    return {**made, "skipped": [after > before for before, after in zip([0, *skipped], skipped)]}


answer(run, prepare=lambda: deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False))
