#include <cctype>

#include "engine/formats/script/script_parts.h"

namespace shardlab {
namespace {

// A line that a program needs where its text has a word.
struct Import {
  std::string_view line;
  std::string_view used_as;
};

constexpr Import k_standard[] = {
    {"import argparse", "argparse."},
    {"import contextlib", "contextlib."},
    {"import functools", "functools."},
    {"import gc", "gc."},
    {"import json", "json."},
    {"import math", "math."},
    {"import os", "os."},
    {"import pathlib", "pathlib."},
    {"import platform", "platform."},
    {"import re", "re."},
    {"import statistics", "statistics."},
    {"import sys", "sys."},
    {"import time", "time."},
};

constexpr Import k_packages[] = {
    {"import bitsandbytes", "bitsandbytes."},
    {"import deepspeed", "deepspeed."},
    {"import numpy as np", "np."},
    {"import torch", "torch."},
    {"import torch.distributed as dist", "dist."},
    {"import torch.nn.functional as F", "F."},
    {"import transformers", "transformers."},
    {"from peft import LoraConfig, inject_adapter_in_model", "LoraConfig("},
    {"from safetensors.torch import load_file", "load_file("},
    {"from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing",
     "apply_activation_checkpointing("},
    {"from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict",
     "set_model_state_dict("},
    {"from torch.distributed.device_mesh import init_device_mesh", "init_device_mesh("},
    {"from torch.distributed.fsdp import CPUOffloadPolicy", "CPUOffloadPolicy("},
    {"from torch.distributed.fsdp import MixedPrecisionPolicy", "MixedPrecisionPolicy("},
    {"from torch.distributed.fsdp import fully_shard", "fully_shard("},
    {"from torch.distributed.fsdp import BackwardPrefetch", "BackwardPrefetch."},
    {"from torch.distributed.fsdp import CPUOffload", "CPUOffload("},
    {"from torch.distributed.fsdp import FullyShardedDataParallel as FSDP", "FSDP("},
    {"from torch.distributed.fsdp import MixedPrecision", "MixedPrecision("},
    {"from torch.distributed.fsdp import ShardingStrategy", "ShardingStrategy."},
    {"from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler", "ShardedGradScaler("},
    {"from torch.distributed.fsdp.wrap import lambda_auto_wrap_policy", "lambda_auto_wrap_policy"},
    {"from torch.multiprocessing.reductions import StorageWeakRef", "StorageWeakRef("},
    {"from torch.nn.parallel import DistributedDataParallel", "DistributedDataParallel("},
    {"from torch.utils._python_dispatch import TorchDispatchMode", "TorchDispatchMode)"},
    {"from torch.utils._pytree import tree_leaves", "tree_leaves("},
    {"from torch.utils.checkpoint import checkpoint", "checkpoint,"},
    {"from transformers import AutoConfig, AutoModelForCausalLM", "AutoConfig."},
};

bool is_part_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// As a word of its own: "torch." is not used by "x.torch.".
bool uses(std::string_view program, std::string_view word) {
  for (std::size_t at = program.find(word); at != std::string_view::npos; at = program.find(word, at + 1)) {
    if (at == 0 || !is_part_of_a_name(program[at - 1])) return true;
  }
  return false;
}

}  // namespace

std::string script_imports(std::string_view program) {
  std::string text;
  for (const Import& each : k_standard) {
    if (uses(program, each.used_as)) text.append(each.line).append("\n");
  }
  text += "\n";
  for (const Import& each : k_packages) {
    if (uses(program, each.used_as)) text.append(each.line).append("\n");
  }
  return text;
}

}  // namespace shardlab
