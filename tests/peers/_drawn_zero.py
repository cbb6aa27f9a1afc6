"""Settings of DeepSpeed's ZeRO drawn at random: of a small Llama."""
from _drawn import UNEVEN
from _drawn_settings import FROZEN

VARIABLES = {"DS_ACCELERATOR": "cpu", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}


def draw_stage_3(pick):
    zero = {"stage3_param_persistence_threshold": pick([0, 100, 5000, 100000]), "stage3_max_reuse_distance": pick([0, 40000, 1000000000]),
            "stage3_prefetch_bucket_size": pick([0, 8000, 20000, 50000000])}
    if pick([True, False, False]):
        zero["overlap_comm"] = False
    if pick([True, False, False]):
        zero["sub_group_size"] = pick([1000, 20000, 40000])
    if pick([True, False, False]):
        zero["stage3_max_live_parameters"] = pick([10000, 50000])
    return zero


def draw_zero(pick, strategy, half):
    if strategy == "zero0":
        return {}
    zero = draw_stage_3(pick) if strategy == "zero3" else {}
    size = pick([None, 5000, 20000, 60000, 1000000])
    if size:
        zero["reduce_bucket_size"] = size
    if strategy != "zero3" and pick([True, False, False]):
        zero["overlap_comm"] = True
    if pick([True, False, False, False]):
        zero["reduce_scatter"] = False
    if strategy != "zero3" and pick([True, False, False]):
        zero["round_robin_gradients"] = True
    if half and pick([True, False, False, False]):
        zero["communication_data_type"] = "fp32"
    if strategy in ("zero2", "zero3") and half and pick([True, False, False]):
        zero["grad_accum_dtype"] = "fp32"
    return zero


def draw_offload(pick, strategy, zero):
    """Of DeepSpeed's three places for state: the device, the optimizer on the host, and under stage 3 the parameters too."""
    if strategy == "zero0" or (strategy != "zero3" and "grad_accum_dtype" in zero):
        return {}
    return pick([{}, {}, {"optimizer": "cpu"}, {"optimizer": "cpu", "parameters": "cpu"} if strategy == "zero3" else {"optimizer": "cpu"}])


def draw_scaler(pick, strategy):
    """The largest overflows."""
    scaler = {"initial_scale": pick([256, 65536, 2**40]), "dynamic": pick([True, True, True, False])}
    if not scaler["dynamic"]:
        scaler["initial_scale"] = 256
    elif strategy != "zero0":
        scaler.update(hysteresis=pick([1, 2]), consecutive_hysteresis=pick([True, False]), interval=pick([1, 1000]))
    return scaler


def draw_lora(pick):
    return {"rank": pick([2, 3]), "alpha": 6, "targets": pick([["q_proj", "v_proj"], ["down_proj"], ["q_proj", "k_proj", "o_proj", "gate_proj", "down_proj"]])}


def draw(pick, _):
    """A scenario without its files, and changes of the model."""
    strategy = pick(["zero0", "zero1", "zero1", "zero2", "zero2", "zero3", "zero3", "zero3", "zero3"])
    train = {"micro_batch": pick([1, 2]), "accumulation": pick([1, 1, 2, 3]), "learning_rate": 1e-3}
    if pick([True, False]):
        train["clip_norm"] = 1.0
    scenario = {"train": train}
    half = pick(["bfloat16", "float16", None, None])
    if half:
        scenario["precision"] = {"param": half}
    if half == "float16":
        scenario["scaler"] = draw_scaler(pick, strategy)
    scenario["parallel"] = {"strategy": strategy}
    if zero := draw_zero(pick, strategy, half):
        scenario["parallel"]["zero"] = zero
    offload = draw_offload(pick, strategy, zero)
    if offload:
        scenario["offload"] = offload
    elif strategy in ("zero1", "zero2") and "clip_norm" not in train and pick([True, False, False]):
        scenario["parallel"].setdefault("zero", {})["compute_grad_norm"] = False
    if model := pick([{}, {}, {"frozen": pick(FROZEN)}, {"lora": draw_lora(pick)}]):
        scenario["model"] = model
    if pick([True, False, False]):
        scenario["activation"] = {"checkpoint": "full"}
    return scenario, {"num_hidden_layers": 3, "tie_word_embeddings": pick([False, False, True]), **pick([{}, UNEVEN])}


def draw_bf16_optimizer(pick, scenario):
    """Float32 sums under ZeRO-1, with the options that DeepSpeed's BF16_Optimizer passes over."""
    scenario["precision"] = {"param": "bfloat16"}
    scenario.pop("scaler", None)
    scenario.pop("offload", None)
    zero = {"grad_accum_dtype": "fp32", "reduce_bucket_size": pick([5000, 1000000]), "overlap_comm": pick([False, True])}
    if pick([True, False]):
        zero["communication_data_type"] = "fp32"
    scenario["parallel"] = {"strategy": "zero1", "zero": zero}


def draw_rarer(pick, world):
    """Settings whose collectives are of few, or of other sums: what its owner alone receives, what neighbours gather, float32 sums."""
    scenario, changes = draw(pick, world)
    parallel = scenario["parallel"]
    if parallel["strategy"] == "zero3":
        parallel.setdefault("zero", {})["zero_hpz_partition_size"] = pick([2, 2, 4])  # more than there are ranks is as many
        scenario.get("offload", {}).pop("parameters", None)
    elif pick([True, False]):
        draw_bf16_optimizer(pick, scenario)
    else:
        parallel["strategy"] = pick(["zero1", "zero2"]) if parallel["strategy"] == "zero0" else parallel["strategy"]
        parallel.setdefault("zero", {})["use_multi_rank_bucket_allreduce"] = False
    return scenario, changes


EXPERTS = [
    {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 3, "num_experts_per_tok": 2},
    {"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 5, "num_experts_per_tok": 2, "head_dim": 16,
     "moe_intermediate_size": 40, "decoder_sparse_step": 1, "mlp_only_layers": [1], "norm_topk_prob": True}]
LEAVES = [{"classes": ["LlamaMLP"]}, {"classes": "transformers.models.llama.modeling_llama.LlamaDecoderLayer"}, {"name_suffixes": "1.mlp"},
          {"names": ["model.layers.1", "lm_head"], "name_suffixes": ["mlp"]}]


def draw_leaves(pick, world):
    """ZeRO-3 with modules that are gathered whole: blocks of experts, which are so by themselves, or those of a Llama that are named.
    Where nothing before a leaf is trained DeepSpeed fails: such settings are not drawn."""
    scenario, changes = draw(pick, world)
    scenario["parallel"] = {"strategy": "zero3", "zero": draw_zero(pick, "zero3", scenario.get("precision"))}
    model = scenario.setdefault("model", {})
    model.pop("frozen", None)
    if pick([True, False]):
        model.pop("lora", None)
        changes = {"num_hidden_layers": 3, "tie_word_embeddings": False, **pick(EXPERTS)}  # torch's grouped products want aligned sizes
        if pick([True, False, False]):
            scenario["parallel"]["zero"]["leaf_module"] = {"classes": []}
        return scenario, changes
    leaves = pick(LEAVES)
    if "lora" in model:
        model["lora"]["targets"], leaves = pick([["q_proj", "v_proj"], ["q_proj", "gate_proj", "down_proj"]]), pick([LEAVES[0], LEAVES[2]])
    scenario["parallel"]["zero"]["leaf_module"] = leaves
    changes["tie_word_embeddings"] = changes["tie_word_embeddings"] and "names" not in leaves
    return scenario, changes


def is_zero0_in_16_bits(scenario):
    """Its FP16_UnfusedOptimizer makes a step with zero gradients when it is built, so that Adam's bias corrections begin at the second
    step: its losses are not those of AdamW after the first update."""
    return scenario["parallel"]["strategy"] == "zero0" and "precision" in scenario
