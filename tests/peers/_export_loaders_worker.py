"""Reads exported files with the tools' own loaders and says what is in effect. In: a list of cases on stdin; out: a list of answers."""
import dataclasses
import json
import os
import sys
import unittest.mock

import torch

# Loaders ask for a GPU that the files are for; nothing is computed here.
torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 0
torch.cuda.is_bf16_supported = lambda *_, **__: True

from accelerate.commands.launch import _validate_launch_command, launch_command_parser  # noqa: E402
from accelerate.utils import FullyShardedDataParallelPlugin, ParallelismConfig  # noqa: E402
from accelerate.utils.launch import prepare_multi_gpu_env  # noqa: E402


def name(value):
    return getattr(value, "name", value) if value is not None else None


def plugin_values(plugin, mixed):
    if mixed in ("bf16", "fp16"):
        plugin.set_mixed_precision(mixed)
    policy = plugin.mixed_precision_policy
    wrap = getattr(plugin.auto_wrap_policy, "__name__", None)
    offload = plugin.cpu_offload
    return {"version": plugin.fsdp_version, "sharding": name(plugin.sharding_strategy), "reshard": plugin.reshard_after_forward,
            "prefetch": name(plugin.backward_prefetch), "forward_prefetch": plugin.forward_prefetch,
            "use_orig_params": plugin.use_orig_params, "limit": plugin.limit_all_gathers,
            "offload": bool(getattr(offload, "offload_params", offload is not None and type(offload).__name__ == "CPUOffloadPolicy")),
            "state_dict": name(plugin.state_dict_type), "policy": wrap, "classes": plugin.transformer_cls_names_to_wrap,
            "min_params": plugin.min_num_params, "ignored": plugin.ignored_modules,
            "checkpointing": plugin.activation_checkpointing, "checkpoint_offload": plugin.activation_checkpointing_offload,
            "one_rank_loads": plugin.cpu_ram_efficient_loading,
            "param": str(policy.param_dtype) if policy else None, "reduce": str(policy.reduce_dtype) if policy else None}


def in_environment(variables, make):
    before = dict(os.environ)
    os.environ.update({key: value for key, value in variables.items() if isinstance(value, str)})
    try:
        return make()
    finally:
        os.environ.clear()
        os.environ.update(before)


def accelerate_values(file):
    parser = launch_command_parser()
    known = set(vars(parser.parse_args(["train.py"])))
    args, defaults, _ = _validate_launch_command(parser.parse_args(["--config_file", file, "train.py"]))
    sections = {"fsdp_config": defaults.fsdp_config, "parallelism_config": getattr(defaults, "parallelism_config", {})}
    unread = [key for section in sections.values() for key in section if key not in known]
    values = {"type": name(defaults.distributed_type), "processes": args.num_processes, "machines": args.num_machines,
              "mixed": defaults.mixed_precision, "unread": unread, "deepspeed_file": defaults.deepspeed_config.get("deepspeed_config_file")}
    if values["type"] == "FSDP":
        environment = prepare_multi_gpu_env(args)
        values["plugin"] = in_environment(environment, lambda: plugin_values(FullyShardedDataParallelPlugin(), args.mixed_precision))
        if defaults.parallelism_config:
            mesh = in_environment(environment, ParallelismConfig)
            values["mesh"] = [mesh.dp_replicate_size, mesh.dp_shard_size]
    return values


def deepspeed_values(file):
    from deepspeed.runtime.config import DeepSpeedConfig
    from deepspeed.runtime import constants as general
    from deepspeed.runtime import precision_config
    read = {value for module in (general, precision_config) for key, value in vars(module).items() if isinstance(value, str)}
    config = DeepSpeedConfig(file)
    zero = config.zero_config
    said = json.load(open(file, encoding="utf-8"))
    return {"unread": [key for key in said if key not in read | {"zero_optimization", "data_types"}], "stage": zero.stage,
            "zero": {key: getattr(zero, key, None) if isinstance(getattr(zero, key, None), (int, float, bool, type(None))) else "section"
                     for key in said["zero_optimization"] if not key.startswith(("stage3_", "offload_"))},
            "stage3": {key: getattr(zero, key[7:], None) for key in said["zero_optimization"] if key.startswith("stage3_")},
            "offload": {key: (str(getattr(getattr(zero, key), "device", None)).split(".")[-1], getattr(getattr(zero, key), "pin_memory", None))
                        for key in ("offload_param", "offload_optimizer") if getattr(zero, key)},
            "micro_batch": config.train_micro_batch_size_per_gpu, "accumulation": config.gradient_accumulation_steps,
            "clip": config.gradient_clipping, "bf16": config.bfloat16_config.enabled, "fp16": config.float16_config.enabled,
            "grad_accum": config.grad_accum_dtype}


def said_values(file):
    from transformers import HfArgumentParser, TrainingArguments
    TrainingArguments._setup_devices = property(lambda self: torch.device("cuda", 0))
    TrainingArguments.distributed_state = unittest.mock.MagicMock()
    os.chdir(os.path.dirname(file))
    (arguments,) = HfArgumentParser(TrainingArguments).parse_json_file(file)
    said = json.load(open(file, encoding="utf-8"))
    kept = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(arguments)}
    return {"said": {key: str(getattr(kept[key], "value", kept[key])) for key in said if key not in ("fsdp", "fsdp_config", "deepspeed", "output_dir")}}, arguments


def transformers_values(file):
    values, arguments = said_values(file)
    if arguments.fsdp_plugin_args:
        mixed = "bf16" if arguments.bf16 else "fp16" if arguments.fp16 else "no"
        values["plugin"] = plugin_values(FullyShardedDataParallelPlugin(**arguments.fsdp_plugin_args), mixed)
    return values


def transformers_4_values(file):
    """Version 4 passes what `fsdp` and its section say through the environment, and the Trainer two of them to the plugin itself
    (create_accelerator_and_postprocess)."""
    import transformers
    assert transformers.__version__.startswith("4."), transformers.__version__
    values, arguments = said_values(file)
    if arguments.fsdp:
        plugin = FullyShardedDataParallelPlugin()
        for name_of_both in ("limit_all_gathers", "activation_checkpointing"):
            setattr(plugin, name_of_both, arguments.fsdp_config.get(name_of_both, getattr(plugin, name_of_both)))
        values["plugin"] = plugin_values(plugin, "bf16" if arguments.bf16 else "fp16" if arguments.fp16 else "no")
    return values


LOADERS = {"accelerate.yaml": accelerate_values, "deepspeed.json": deepspeed_values, "training_args.json": transformers_values,
           "training_args_4.json": transformers_4_values}


def answer(case):
    try:
        return in_environment(case.get("environment", {}), lambda: LOADERS[case["kind"]](case["file"]))
    except BaseException as error:  # noqa: BLE001: whatever a loader raises is what it says of the file
        return {"error": f"{type(error).__name__}: {error}"}


cases = json.load(sys.stdin)
out = os.dup(1)
os.dup2(2, 1)
answers = [answer(case) for case in cases]
os.write(out, json.dumps(answers, default=str).encode())
