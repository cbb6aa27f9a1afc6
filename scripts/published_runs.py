#!/usr/bin/env python3
"""Predictions beside published runs: tokens per second and peak memory, by implementation, length, GPU and number of GPUs.

    scripts/published_runs.py [--program build/bin/shardlab] [--csv assets/backtest/published_runs.csv] [--limit N]

Rows: FSDP and DDP without tensor, pipeline, context or expert parallelism, not compiled, no float8, nothing offloaded. Each is predicted
twice: with the operators that a scenario gets on GPUs when it says nothing, and with ours (fused).
"""

import argparse
import collections
import csv
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPUS = {"A100-80GB": "A100-SXM-80GB", "A100-40GB": "A100-SXM-40GB", "H100-80GB": "H100-SXM", "RTX-4090": "RTX4090"}
# Network of each GPU between nodes where the row does not say: what the clusters of that source are known to have.
ASSUMED_GBPS = {"mosaicml": 200, "default": 400}
FULL = {"FULL_SHARD": ("fsdp1", "full_shard"), "SHARD_GRAD_OP": ("fsdp1", "shard_grad_op"), "HYBRID_SHARD": ("fsdp1", "hybrid_shard"),
        "FSDP2": ("fsdp2", None), "NO_SHARD": ("ddp", None)}


class NotExpressible(Exception):
    pass


def model_of(row):
    """The model section: a published configuration of the family with the row's sizes."""
    def number(key):
        if not row[key]:
            raise NotExpressible(f"{key} is not given")
        return int(row[key])

    section = {"sequence_length": number("seq_len")}
    if row["family"] == "mpt":
        if number("ffn_hidden") != 4 * number("hidden"):
            raise NotExpressible("an MPT whose feed-forward is not four times as wide")
        overrides = {"n_layers": number("n_layers"), "d_model": number("hidden"), "n_heads": number("n_heads"),
                     "vocab_size": number("vocab"), "max_seq_len": number("seq_len")}
        return section | {"config": "mpt-7b", "overrides": overrides, "attention": "flash"}
    if row["family"] == "gpt3":
        overrides = {"n_layer": number("n_layers"), "n_embd": number("hidden"), "n_head": number("n_heads"),
                     "vocab_size": number("vocab"), "n_positions": number("seq_len")}
        return section | {"config": "gpt2", "overrides": overrides}
    if row["family"] in ("llama2", "llama3"):
        overrides = {"num_hidden_layers": number("n_layers"), "hidden_size": number("hidden"),
                     "num_attention_heads": number("n_heads"), "num_key_value_heads": int(row["n_kv_heads"] or row["n_heads"]),
                     "intermediate_size": number("ffn_hidden"), "vocab_size": number("vocab"),
                     "max_position_embeddings": number("seq_len")}
        return section | {"config": "llama-2-7b" if row["family"] == "llama2" else "llama-3-8b", "overrides": overrides}
    raise NotExpressible(f"family {row['family']}")


def cluster_of(row):
    if row["gpu"] not in GPUS:
        raise NotExpressible(f"GPU {row['gpu']}")
    gpus = int(row["n_gpus"])
    per_node = min(int(row["gpus_per_node"] or 8), gpus)
    cluster = {"gpu": GPUS[row["gpu"]], "gpus_per_node": per_node, "nodes": gpus // per_node}
    if cluster["nodes"] > 1:
        source = row["source_repo_or_paper"].split("/")[0]
        cluster["inter_node_gbps_per_gpu"] = float(row["inter_node_gbps_per_gpu"] or ASSUMED_GBPS.get(source, ASSUMED_GBPS["default"]))
    return cluster


def scenario_of(row):
    strategy, sharding = FULL[row["strategy"]]
    parallel = {"strategy": strategy}
    if sharding:
        parallel["sharding"] = sharding
    if row["strategy"] == "HYBRID_SHARD":
        parallel["mesh"] = {"replicate": int(row["n_gpus"]) // int(row["gpus_per_node"] or 8)}
    dtype = {"bf16": "bfloat16", "fp16": "float16"}.get(row["param_dtype"])
    if dtype is None:
        raise NotExpressible(f"dtype {row['param_dtype']}")
    document = {"name": row["id"], "model": model_of(row), "cluster": cluster_of(row), "parallel": parallel,
                "train": {"micro_batch": int(row["micro_batch_per_gpu"]), "accumulation": int(row["grad_accum"] or 1), "clip_norm": 1.0}}
    if strategy == "ddp":
        document["model"]["dtype"] = dtype
    else:
        document["precision"] = {"param": dtype}
    if row["activation_checkpointing"] == "full":
        document["activation"] = {"checkpoint": "full"}
    elif row["activation_checkpointing"] == "selective":
        raise NotExpressible("selective checkpointing, of which the source does not say what")
    return document


def wanted(row):
    alone = all((row[key] or "1") == "1" for key in ("tp", "pp", "cp", "ep"))
    plain = row["compile"] != "yes" and row["fp8"] != "yes" and (row["cpu_offload"] or "none") == "none" and row["oom"] != "yes"
    return alone and plain and row["strategy"] in FULL and row["micro_batch_per_gpu"] and row["tokens_per_s_per_gpu"]


def predict(program, document, implementation):
    if implementation:
        document = document | {"model": {key: value for key, value in document["model"].items() if key != "attention"} |
                               {"implementation": implementation}}
    done = subprocess.run([program, "simulate", "/dev/stdin", "--no-store", "--json"], input=json.dumps(document), text=True,
                          capture_output=True, cwd=ROOT, timeout=300)
    if done.returncode:
        raise NotExpressible(done.stderr.strip().splitlines()[0] if done.stderr else "refused")
    return json.loads(done.stdout)


def table(results):
    groups = collections.defaultdict(list)
    for row, by_name in results:
        length = int(row["seq_len"])
        for group in (("all", ""), ("family", row["family"]), ("GPU", row["gpu"]), ("GPUs", "1 to 8" if int(row["n_gpus"]) <= 8 else "more"),
                      ("sequence", "to 2,048" if length <= 2048 else "to 8,192" if length <= 8192 else "longer")):
            groups[group].append((row, by_name))
    print(f"{'predicted / published - 1':32} {'rows':>5} {'fused: median':>14} {'90 %':>7} {'default: median':>16} {'90 %':>7}")
    for (kind, name), members in sorted(groups.items()):
        cells = []
        for implementation in ("fused", "default"):
            errors = [each[implementation]["tokens_per_second_per_gpu"] / float(row["tokens_per_s_per_gpu"]) - 1
                      for row, each in members if implementation in each]
            absolute = sorted(abs(error) for error in errors)
            cells += [f"{statistics.median(errors):+.1%}", f"{absolute[int(0.9 * (len(absolute) - 1))]:.1%}"]
        print(f"{kind + ' ' + name:32} {len(members):5} {cells[0]:>14} {cells[1]:>7} {cells[2]:>16} {cells[3]:>7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/bin/shardlab"))
    parser.add_argument("--csv", default=str(ROOT / "assets/backtest/published_runs.csv"))
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    with open(options.csv, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if wanted(row)][:options.limit]
    results, refused = [], collections.Counter()
    for index, row in enumerate(rows):
        print(f"\r{index + 1} of {len(rows)}", end="", file=sys.stderr)
        try:
            document = scenario_of(row)
            results.append((row, {"default": predict(options.program, document, None),
                                  "fused": predict(options.program, document, "fused")}))
        except NotExpressible as reason:
            refused[str(reason)] += 1
    print(file=sys.stderr)
    table(results)
    for reason, count in refused.most_common():
        print(f"{count:4} rows not expressible: {reason}")


if __name__ == "__main__":
    main()
