"""DeepSpeed's configuration of a scenario."""
import math

STAGES = {"zero0": 0, "zero1": 1, "zero2": 2, "zero3": 3}


def loss_scaling(scaler):
    names = {"interval": "loss_scale_window", "hysteresis": "hysteresis", "consecutive_hysteresis": "consecutive_hysteresis",
             "minimum": "min_loss_scale"}
    section = {"enabled": True, "initial_scale_power": round(math.log2(scaler.get("initial_scale", 65536)))}
    section.update((names[key], value) for key, value in scaler.items() if key in names)
    return section if scaler.get("dynamic", True) else {"enabled": True, "loss_scale": scaler["initial_scale"]}


def configuration(scenario):
    """The scenario in DeepSpeed's own terms, without its optimizer."""
    train, zero = scenario["train"], dict(scenario["parallel"].get("zero", {}))
    types = {key: zero.pop(key) for key in ("grad_accum_dtype",) if key in zero}
    config = {"train_micro_batch_size_per_gpu": train["micro_batch"], "gradient_accumulation_steps": train["accumulation"],
              "zero_allow_untested_optimizer": True, "data_types": types,
              "zero_optimization": {"stage": STAGES[scenario["parallel"]["strategy"]], **zero}}
    if "communication_data_type" in config["zero_optimization"]:
        config["communication_data_type"] = config["zero_optimization"].pop("communication_data_type")
    for what, section in (("optimizer", "offload_optimizer"), ("parameters", "offload_param")):
        if what in scenario.get("offload", {}):
            config["zero_optimization"][section] = {"device": "cpu"}
            config["zero_force_ds_cpu_optimizer"] = False  # its own has to be compiled
    if scenario.get("precision", {}).get("param") == "bfloat16":
        config["bf16"] = {"enabled": True}
    if scenario.get("precision", {}).get("param") == "float16":
        config["fp16"] = loss_scaling(scenario.get("scaler", {}))
    config["gradient_clipping"] = train.get("clip_norm", 0.0)  # DeepSpeed clips at 1.0 where nothing is said
    return config
