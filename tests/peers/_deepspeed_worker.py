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
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

deepspeed.utils.logger.setLevel("ERROR")
STAGES = {"zero0": 0, "zero1": 1, "zero2": 2, "zero3": 3}


def configuration(scenario):
    """The scenario in DeepSpeed's own terms."""
    train, zero = scenario["train"], dict(scenario["parallel"].get("zero", {}))
    types = {key: zero.pop(key) for key in ("grad_accum_dtype",) if key in zero}
    config = {"train_micro_batch_size_per_gpu": train["micro_batch"], "gradient_accumulation_steps": train["accumulation"],
              "zero_allow_untested_optimizer": True, "data_types": types,
              "zero_optimization": {"stage": STAGES[scenario["parallel"]["strategy"]], **zero}}
    for what, section in (("optimizer", "offload_optimizer"), ("parameters", "offload_param")):
        if what in scenario.get("offload", {}):
            config["zero_optimization"][section] = {"device": "cpu"}
            config["zero_force_ds_cpu_optimizer"] = False  # its own has to be compiled
    if scenario.get("precision", {}).get("param") == "bfloat16":
        config["bf16"] = {"enabled": True}
    config["gradient_clipping"] = train.get("clip_norm", 0.0)  # DeepSpeed clips at 1.0 where nothing is said
    return config


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
    model = LlamaForCausalLM(LlamaConfig(**case["config"], use_cache=False, attn_implementation="eager"))
    model.load_state_dict(read_safetensors(case["weights"]), strict=not case["config"].get("tie_word_embeddings"))
    freeze(model, scenario["model"].get("frozen", []))
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=train["learning_rate"], weight_decay=0.01)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=configuration(scenario), dist_init_required=False)
    spec = {"text": case["text"], "sequence_length": length, "micro_batch": train["micro_batch"], "accumulation": train["accumulation"]}
    batches = SequentialBatches(spec, rank, world)
    return record_steps(recorder, case, world, lambda step: train_step(engine, batches, train["accumulation"], step))


answer(run, prepare=lambda: deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False))
