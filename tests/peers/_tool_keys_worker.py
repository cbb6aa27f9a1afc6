"""The keys that accelerate, DeepSpeed, transformers and torchrun know, as JSON: tool -> section -> {key: type or null}."""
import dataclasses
import json
import os
import re
import sys
import typing

import torch  # noqa: F401


def options(parser):
    return {action.dest: "flag" if action.nargs == 0 else "any" for action in parser._actions if action.option_strings}


def accelerate_keys():
    from accelerate.commands.config.config_args import ClusterConfig
    from accelerate.commands.launch import launch_command_parser
    parser = launch_command_parser()
    launch = options(parser)
    starts = {"fsdp_config": "fsdp_", "parallelism_config": "parallelism_config_", "fp8_config": "fp8_", "dynamo_config": "dynamo_"}
    sections = {name: {key: None for key in launch if key.startswith(start)} for name, start in starts.items()}
    # Read by getattr, without an option of its own.
    sections["fsdp_config"]["fsdp_ignored_modules"] = None
    group = next(g for g in parser._action_groups if g.title == "DeepSpeed Arguments")
    sections["deepspeed_config"] = {action.dest: None for action in group._group_actions}
    # Two old keys are replaced before the check.
    sections["root"] = {field.name: None for field in dataclasses.fields(ClusterConfig)} | {"fp16": None, "dynamo_backend": None}
    return sections | {"launch": launch}


def plain_type(annotation):
    """boolean, integer, number, text or null where it is something else."""
    words = {bool: "boolean", int: "integer", float: "number", str: "text"}
    if typing.get_origin(annotation) in (list, dict, tuple):
        return None
    inner = [each for each in typing.get_args(annotation) if each is not type(None)]
    return words.get(inner[0] if len(inner) == 1 else annotation)


def model_keys(model):
    return {field.alias or name: plain_type(field.annotation) for name, field in model.model_fields.items()}


def deepspeed_keys():
    from deepspeed.comm.config import CommsLoggerConfig
    from deepspeed.compile.config import CompileConfig
    from deepspeed.inference.config import WeightQuantConfig
    from deepspeed.monitor import config as monitor
    from deepspeed.runtime import config as runtime
    from deepspeed.runtime import precision_config
    from deepspeed.runtime.tensor_parallel.config import TPConfig, TPTrainingConfig
    from deepspeed.runtime.zenflow.zenflow_config import ZenFlowConfig
    from deepspeed.runtime.zero import config as zero
    from deepspeed.runtime.zero import leaf_module_config, offload_config
    from deepspeed.utils.config import DeepSpeedThroughputTimerConfig
    models = {"zero_optimization": zero.DeepSpeedZeroConfig, "offload_param": offload_config.DeepSpeedZeroOffloadParamConfig,
              "offload_optimizer": offload_config.DeepSpeedZeroOffloadOptimizerConfig, "zenflow": ZenFlowConfig,
              "leaf_module": leaf_module_config.DeepSpeedZeroLeafModuleConfig, "bf16": precision_config.DeepSpeedBF16Config,
              "fp16": precision_config.DeepSpeedFP16Config, "comms_logger": CommsLoggerConfig, "tensorboard": monitor.TensorBoardConfig,
              "wandb": monitor.WandbConfig, "csv_monitor": monitor.CSVConfig, "comet": monitor.CometConfig,
              "hybrid_engine": runtime.HybridEngineConfig, "compile": CompileConfig, "tensor_parallel": TPTrainingConfig, "tp": TPConfig,
              "weight_quantization": WeightQuantConfig, "throughput": DeepSpeedThroughputTimerConfig}
    sections = {name: model_keys(model) for name, model in models.items()}
    # What its reader asks of the root, by name.
    with open(runtime.__file__, encoding="utf-8") as file:
        source = file.read()
    asked = re.findall(r"(?:get_scalar_param\(\s*param_dict,\s*|param_dict\.get\(\s*|param_dict\[\s*)([A-Z_]+)\b", source)
    asked += re.findall(r"\b([A-Z_]+) in param_dict", source)
    sections["root"] = {getattr(runtime, name): None for name in asked if isinstance(getattr(runtime, name, None), str)}
    sections["root"] |= {name: None for name in re.findall(r"param_dict(?:\.get\(|\[)['\"](\w+)['\"]", source)}
    sections["removed"] = {key: None for key in runtime._REMOVED_TOP_LEVEL_CONFIG_KEYS}
    sections["removed_zero"] = {key: None for key in runtime._REMOVED_ZERO_CONFIG_KEYS}
    return sections


def transformers_keys():
    from transformers import TrainingArguments
    hints = typing.get_type_hints(TrainingArguments)
    return {"root": {field.name: plain_type(hints[field.name]) for field in dataclasses.fields(TrainingArguments)}}


def torchrun_keys():
    from torch.distributed.run import get_args_parser
    return {"launch": options(get_args_parser())}


def main():
    out = os.dup(1)
    os.dup2(2, 1)
    if sys.argv[1:] == ["transformers-4"]:
        os.write(out, json.dumps({"transformers-4": transformers_keys()}).encode())
        return
    answer = {"accelerate": accelerate_keys(), "deepspeed": deepspeed_keys(), "transformers": transformers_keys(), "torchrun": torchrun_keys()}
    os.write(out, json.dumps(answer).encode())


main()
