"""The lists of keys in assets/formats against the packages themselves: no key is missing, none is made up, plain types agree."""
# processors: 1
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, SOURCE, needed

# Keys that the tool reads elsewhere than where the others are found, each with where.
ELSEWHERE = {("deepspeed", "root"): {
    "activation_checkpointing", "aio", "autotuning", "bf16", "bfloat16", "comet", "comms_logger", "csv_monitor", "data_efficiency", "datastates_ckpt",
    "flops_profiler", "fp16", "sequence_parallel_size", "tensor_parallel", "tensorboard", "timers", "wandb", "zero_optimization", "allgather_size",
    "vocabulary_size", "scheduler", "optimizer", "torch_autocast", "expert_parallel", "communication_data_type", "seq_parallel_communication_data_type"},
    ("accelerate", "launch"): {"help", "tpu_cluster", "no_tpu_cluster"}, ("torchrun", "launch"): {"help", "m", "use_env"}}
# Options that are spelled otherwise on the command line, or replaced by others.
NOT_LISTED = {("accelerate", "launch"): {"tpu_use_cluster"},
              ("deepspeed", "root"): {"dtype", "legacy_fusion", "lower_precision_safe_modules", "params", "type"}}  # of sections


def listed(name):
    """section -> {key: type} of a list, whose YAML is of two levels."""
    sections, section, part = {}, None, None
    for line in (SOURCE / "assets" / "formats" / f"{name}.yaml").read_text().splitlines():
        if match := re.match(r"^  (\w+):$", line):
            section, part = match[1], None
            sections[section] = {"keys": {}, "aliases": {}, "removed": {}, "renamed": {}, "unread": {}}
        elif match := re.match(r"^    (\w+):$", line):
            part = match[1]
        elif part and (match := re.match(r"^      ([\w.=]+): (.*)$", line)):
            sections[section][part][match[1]] = match[2]
    return sections


def compare(tool, section, ours, theirs):
    ours_names = set(ours) - ELSEWHERE.get((tool, section), set())
    theirs_names = set(theirs) - NOT_LISTED.get((tool, section), set())
    complaints = [f"{tool} {section}: lists {key}, which there is not" for key in sorted(ours_names - set(theirs))]
    complaints += [f"{tool} {section}: lacks {key}" for key in sorted(theirs_names - set(ours))]
    for key in sorted(set(ours) & set(theirs)):
        kind = theirs[key]
        if kind and kind not in ours[key] and not ours[key].startswith(("word", "any", "section")):
            complaints.append(f"{tool} {section}.{key}: listed as {ours[key]}, it is {kind}")
    return complaints


def asked(*arguments, **environment):
    done = subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-W", "ignore", str(HERE / "_tool_keys_worker.py"), *arguments], capture_output=True, text=True,
                          timeout=600, env=dict(os.environ, DS_ACCELERATOR="cpu", HF_HUB_OFFLINE="1") | environment)
    if done.returncode != 0:
        sys.exit(f"the packages were not asked:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout)


def main():
    needed("SHARDLAB_TRANSFORMERS")
    answers = asked()
    old = pathlib.Path(os.environ["SHARDLAB_TRANSFORMERS"]).parent.parent / "transformers-4"
    if old.exists():  # scripts/peers_env.sh makes it beside the others
        answers |= asked("transformers-4", PYTHONPATH=str(old))
    complaints, count = [], 0
    for tool, sections in answers.items():
        lists = listed(tool)
        for section, theirs in sections.items():
            if section.startswith("removed"):
                ours = lists["root" if section == "removed" else "zero_optimization"]["removed"]
                if set(ours) != set(theirs):
                    complaints.append(f"{tool}: refuses {sorted(theirs)}, listed are {sorted(ours)}")
                continue
            count += len(theirs)
            complaints += compare(tool, section, lists[section]["keys"] | lists[section]["aliases"] if section == "root" else lists[section]["keys"], theirs)
    for complaint in complaints:
        print(complaint)
    print(f"{count} keys of {len(answers)} packages: {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


main()
