"""Trainings by DeepSpeed whose memory on a GPU is compared: some chosen, others drawn."""
import json

from _peer import SOURCE

LAYER_KEYS = ("num_hidden_layers", "n_layer", "n_layers")
WIDE = {"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 4, "num_attention_heads": 16,
        "num_key_value_heads": 4, "vocab_size": 32000, "tie_word_embeddings": False, "max_position_embeddings": 8192, "rms_norm_eps": 1e-6,
        "hidden_act": "silu"}


def published(model, layers=None):
    """Without tied heads: a model whose memory is taken later loses the tie."""
    config = json.loads((SOURCE / "assets/models" / model / "config.json").read_text())
    config.pop("published_dropout", None)
    if layers:
        config.update({key: layers for key in LAYER_KEYS if key in config})
    config.update({key: 0.0 for key in config if key.endswith("_pdrop") or key.endswith("dropout")})
    return {**config, "tie_word_embeddings": False}


def case(name, strategy, zero=None, config=None, param="bfloat16", sequence=1024, micro_batch=1, accumulation=1, ranks=8, clip=None,
         checkpoint=False, offload=None, attention="auto", loss="outside"):
    scenario = {"name": "reserved", "parallel": {"strategy": strategy, **({"zero": zero} if zero else {})},
                "model": {"sequence_length": sequence, "implementation": "eager", "attention": attention, "loss": {"place": loss}},
                "train": {"micro_batch": micro_batch, "accumulation": accumulation, "optimizer_implementation": "foreach",
                          **({"clip_norm": clip} if clip else {})}}
    if param != "float32":
        scenario["precision"] = {"param": param}
    if checkpoint:
        scenario["activation"] = {"checkpoint": "full"}
    if offload:
        scenario["offload"] = offload
    return {"name": f"{strategy} {name}", "scenario": scenario, "config": config or WIDE, "ranks": ranks}


SMALL_BUCKET = {"reduce_bucket_size": 20000000}
RELEASING = {"stage3_param_persistence_threshold": 0, "stage3_max_reuse_distance": 0}


def fixed_cases():
    llama = published("llama-3-8b")
    return [
        case("8B", "zero1", config=llama, sequence=4096, checkpoint=True), case("8B", "zero2", config=llama, sequence=4096, checkpoint=True),
        case("8B", "zero3", config=llama, sequence=4096, checkpoint=True), case("8B in full", "zero3", RELEASING, llama, sequence=4096),
        case("bf16", "zero0"), case("fp32", "zero0", param="float32"), case("bf16", "zero1"), case("fp16 clipped", "zero1", param="float16", clip=1.0),
        case("fp32", "zero2", param="float32"), case("bf16, small bucket", "zero2", SMALL_BUCKET), case("overlap", "zero2", {**SMALL_BUCKET, "overlap_comm": True}),
        case("accumulation", "zero2", SMALL_BUCKET, accumulation=2, clip=1.0), case("no reduce_scatter", "zero2", {**SMALL_BUCKET, "reduce_scatter": False}),
        case("float32 sums", "zero2", {**SMALL_BUCKET, "grad_accum_dtype": "fp32"}, accumulation=2),
        case("float32 sums", "zero1", {"grad_accum_dtype": "fp32"}, accumulation=2), case("round robin", "zero1", {**SMALL_BUCKET, "round_robin_gradients": True}),
        case("optimizer on the host", "zero2", SMALL_BUCKET, offload={"optimizer": "cpu"}),
        case("defaults", "zero3"), case("fp16 clipped", "zero3", SMALL_BUCKET, param="float16", clip=1.0), case("fp32", "zero3", SMALL_BUCKET, param="float32"),
        case("releasing", "zero3", {**SMALL_BUCKET, **RELEASING}), case("no overlap", "zero3", {**SMALL_BUCKET, **RELEASING, "overlap_comm": False}),
        case("accumulation", "zero3", {**SMALL_BUCKET, **RELEASING}, accumulation=2),
        case("sub-groups", "zero3", {**SMALL_BUCKET, "sub_group_size": 10000000}),
        case("optimizer on the host", "zero3", {**SMALL_BUCKET, **RELEASING}, offload={"optimizer": "cpu"}),
        case("all on the host", "zero3", {**SMALL_BUCKET, **RELEASING}, offload={"optimizer": "cpu", "parameters": "cpu"}),
        case("hpZ", "zero3", {**SMALL_BUCKET, **RELEASING, "zero_hpz_partition_size": 2}),
        case("GPT-2", "zero2", SMALL_BUCKET, published("gpt2-xl", 6)), case("Qwen3-8B", "zero3", {**SMALL_BUCKET, **RELEASING}, published("qwen3-8b", 3)),
        case("Phi-2 checkpointed", "zero3", SMALL_BUCKET, published("phi-2", 6), micro_batch=4, checkpoint=True),
    ]


def drawn_zero(draw, strategy, param):
    zero = {"reduce_bucket_size": draw.choice([5000000, 20000000, 50000000, 500000000])}
    if strategy == "zero3":
        zero.update(stage3_param_persistence_threshold=draw.choice([0, 5000, 100000]), stage3_max_reuse_distance=draw.choice([0, 0, 1000000000]),
                    stage3_prefetch_bucket_size=draw.choice([0, 10000000, 50000000]), sub_group_size=draw.choice([20000000, 1000000000]))
    elif draw.random() < 0.3:
        zero["round_robin_gradients"] = True
    if draw.random() < 0.4:
        zero["overlap_comm"] = strategy != "zero3"
    if draw.random() < 0.25:
        zero["reduce_scatter"] = False
    if param != "float32" and draw.random() < 0.25 and strategy != "zero1":
        zero["grad_accum_dtype"] = "fp32"
    return zero


def drawn_case(draw):
    strategy, param = draw.choice(["zero0", "zero1", "zero2", "zero2", "zero3", "zero3", "zero3"]), draw.choice(["bfloat16", "bfloat16", "float16", "float32"])
    hidden = draw.choice([1024, 2048, 3072])
    heads = hidden // 128
    config = {**WIDE, "hidden_size": hidden, "intermediate_size": hidden * draw.choice([11, 14, 16]) // 4, "num_hidden_layers": draw.randint(2, 6),
              "num_attention_heads": heads, "num_key_value_heads": draw.choice([heads // 4, heads]), "vocab_size": draw.choice([8192, 32000, 50304])}
    if param == "float32":
        config["num_key_value_heads"] = heads  # else torch keeps the scores
    zero = drawn_zero(draw, strategy, param) if strategy != "zero0" else None
    drawn = {"sequence": draw.choice([512, 1024, 2048]), "micro_batch": draw.choice([1, 1, 2, 4]), "accumulation": draw.choice([1, 1, 2, 3]),
             "ranks": draw.choice([2, 4, 8]), "clip": draw.choice([None, 1.0]), "checkpoint": draw.random() < 0.4, "loss": draw.choice(["inside", "outside"])}
    if strategy not in ("zero0",) and "grad_accum_dtype" not in (zero or {}) and draw.random() < 0.25:
        drawn["offload"] = draw.choice([{"optimizer": "cpu"}, {"optimizer": "cpu", "parameters": "cpu"} if strategy == "zero3" else {"optimizer": "cpu"}])
    words = [param, f"{config['num_hidden_layers']}x{hidden}/{config['intermediate_size']} vocabulary {config['vocab_size']}", f"{drawn['ranks']} ranks",
             f"{drawn['accumulation']}x{drawn['micro_batch']}x{drawn['sequence']}", "clipped" * bool(drawn["clip"]), "checkpointed" * drawn["checkpoint"],
             "loss " + drawn["loss"], "offload " + " and ".join(drawn.get("offload", {})) if drawn.get("offload") else "",
             json.dumps(zero or {}).replace('"', "").replace("stage3_", "")]
    return case(", ".join(word for word in words if word), strategy, zero, config, param, **drawn)
