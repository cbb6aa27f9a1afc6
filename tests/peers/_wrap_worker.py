"""Wraps module trees with torch's own FSDP1 policies and prints the units, as JSON. Runs in $SHARDLAB_PYTHON.

Input: a JSON list of cases {tree, policy}; a tree is {name, class, parameters: {name: elements}, children}, a policy what a scenario
says under parallel.wrap. Answer: a list of {units: {path: elements}, split: whether a tied parameter has modules in two units}.
"""
import functools
import json
import sys

import torch
from torch import nn
from torch.distributed.fsdp import wrap


class Unit(nn.Module):
    """Stands in for FullyShardedDataParallel: remembers what was wrapped."""

    def __init__(self, module):
        super().__init__()
        self.module = module


# Trees name classes that torch treats specially, and others, which become empty classes of their own.
SPECIAL = {"ModuleList": nn.ModuleList, "ModuleDict": nn.ModuleDict, "Module": nn.Module}


@functools.cache
def class_of(name):
    if name == "MultiheadAttention":  # its constructor would add parameters
        return type(name, (nn.MultiheadAttention,), {"__init__": nn.Module.__init__, "__setstate__": None})
    return SPECIAL.get(name) or type(name, (nn.Module,), {})


def build(tree, parameters):
    module = class_of(tree["class"])()
    for name, elements in tree["parameters"].items():
        # A tied parameter is one object wherever its name is mentioned.
        shared = parameters.setdefault(name, nn.Parameter(torch.empty(elements, device="meta")))
        module.register_parameter(name.replace(".", "_"), shared)
    for child in tree["children"]:
        module.add_module(child["name"], build(child, parameters))
    return module


def policy_of(spec):
    if spec["policy"] == "size":
        return functools.partial(wrap.size_based_auto_wrap_policy, min_num_params=spec["min_params"])
    if spec["policy"] in ("transformer", "module"):
        classes = {class_of(name) for name in spec["classes"]}
        if spec["policy"] == "module":
            return wrap.ModuleWrapPolicy(classes)
        return functools.partial(wrap.transformer_auto_wrap_policy, transformer_layer_cls=classes)
    if spec["policy"] == "lambda":
        classes = tuple(class_of(match["class"]) for match in spec["match"])
        return functools.partial(wrap.lambda_auto_wrap_policy, lambda_fn=lambda module: isinstance(module, classes))
    return functools.partial(wrap._or_policy, policies=[policy_of(inner) for inner in spec["any"]])


def wrap_tree(root, policy):
    """The wrapped root, as FullyShardedDataParallel(root, auto_wrap_policy=policy) does it (fsdp/_wrap_utils.py)."""
    if isinstance(policy, wrap._Policy):
        targets = policy._run_policy(root, set(), {})
        wrap._post_order_apply(root, wrap._construct_wrap_fn(root, targets, Unit))
    else:
        wrap._recursive_wrap(root, policy, Unit, set(), set(), only_wrap_children=True)
    return Unit(root)


def units_of(wrapped):
    """Names go without the wrappers; a parameter belongs to the innermost unit around its first mention."""
    units, unit_of, split = {}, {}, False

    def visit(module, path, unit):
        nonlocal split
        if isinstance(module, Unit):
            units[path] = 0
            visit(module.module, path, path)
            return
        for parameter in module.parameters(recurse=False):
            if parameter not in unit_of:
                units[unit] += parameter.numel()
            split |= unit_of.setdefault(parameter, unit) != unit
        for name, child in module.named_children():
            visit(child, f"{path}.{name}".lstrip("."), unit)

    visit(wrapped, "", "")
    return {"units": units, "split": split}


def main():
    answers = []
    for case in json.load(sys.stdin):
        class_of.cache_clear()
        root = build(case["tree"], {})
        answers.append(units_of(wrap_tree(root, policy_of(case["policy"]))))
    json.dump(answers, sys.stdout)


main()
