"""Predictions beside runs, scenario after scenario, each with what it came to before the next one begins; a table in the end. Options: --db the
database (with a calibration), --json the file for results (default: validate_all.db and .json here). A run that fails is an entry."""
import argparse
import json
import time

from _gpu import REHEARSE, SMALL, TEXT, Folder, cluster, need_gpu, shardlab, write
from compare_fsdp2 import LLAMA_1B, LLAMA_8B_16_LAYERS

QWEN3_06B = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072,
             "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
             "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "hidden_act": "silu", "tie_word_embeddings": True}
GPT2_MEDIUM = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 1024, "n_layer": 24, "n_head": 16, "n_positions": 1024,
               "vocab_size": 50257, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "attn_pdrop": 0, "embd_pdrop": 0,
               "resid_pdrop": 0, "tie_word_embeddings": True}
EIGHT_B_4 = {**LLAMA_8B_16_LAYERS, "num_hidden_layers": 4}
BFLOAT16 = {"param": "bfloat16", "reduce": "float32"}
#      name, model, sequence, micro-batch, strategy, other sections
TWELVE = [("llama-1b 2 x 2048 fsdp2", LLAMA_1B, 2048, 2, "fsdp2", {}),
          ("llama-1b 4 x 4096 native", LLAMA_1B, 4096, 4, "native", {}),
          ("llama-1b 4 x 4096 fsdp2", LLAMA_1B, 4096, 4, "fsdp2", {}),
          ("llama-1b 1 x 8192 native", LLAMA_1B, 8192, 1, "native", {}),
          ("llama-1b checkpointed", LLAMA_1B, 4096, 4, "fsdp2", {"activation": {"checkpoint": "full"}}),
          ("llama-1b accumulating", LLAMA_1B, 2048, 2, "fsdp2", {"train": {"accumulation": 4}}),
          ("llama-1b eager operators", LLAMA_1B, 2048, 2, "fsdp2", {"model": {"implementation": "eager"}}),
          ("8B cut to 4 layers", EIGHT_B_4, 4096, 1, "fsdp2", {}),
          ("8B cut to 4 layers, native", EIGHT_B_4, 4096, 2, "native", {}),
          ("Qwen3-0.6B", QWEN3_06B, 4096, 2, "fsdp2", {}),
          ("GPT-2 medium", GPT2_MEDIUM, 1024, 8, "fsdp2", {}),
          ("GPT-2 medium, native", GPT2_MEDIUM, 1024, 8, "native", {})]
SMALL_TWELVE = [(name, SMALL, 64, 1, strategy, more) for name, _, _, _, strategy, more in TWELVE]


def content_of(folder, number, row):
    name, config, sequence, micro_batch, strategy, more = row
    file = folder / f"model-{number}.json"
    file.write_text(json.dumps(config))
    content = {"name": name, "model": {"config": str(file), "sequence_length": sequence, "implementation": "fused"}, "cluster": cluster(1),
               "parallel": {"strategy": strategy}, "precision": BFLOAT16, "launch": {"timeout": "60s"},
               "train": {"micro_batch": micro_batch, "learning_rate": 1e-4, "data": str(TEXT), "clip_norm": 1.0},
               "measure": {"warmup_steps": 3, "steps": 2 if REHEARSE else 6}}
    for key, value in more.items():
        content[key] = {**content.get(key, {}), **value}
    return content


def metric(document, name):
    found = next((each for each in document["metrics"] if each["name"] == name), None)
    return (found["predicted"], found["measured"], found["error"]) if found else (None, None, None)


def line(name, document):
    if "error" in document:
        return f"{name:28} failed: {document['error']}"
    step, peak = metric(document, "step_time"), metric(document, "peak_allocated")
    text = lambda triple, unit, digits: f"{triple[0] / unit:9.{digits}f} {triple[1] / unit:9.{digits}f} {triple[2]:+8.1%}"
    return f"{name:28} {text(step, 1e6, 1)} {text(peak, 2**30, 3)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", default="validate_all.db")
    parser.add_argument("--json", default="validate_all.json")
    options = parser.parse_args()
    need_gpu()
    results = {}
    with Folder() as folder:
        for number, row in enumerate(SMALL_TWELVE if REHEARSE else TWELVE):
            began = time.monotonic()
            file = write(folder, f"scenario-{number}", content_of(folder, number, row))
            try:
                done = shardlab("validate", file, "--db", options.db, "--no-calibrate", code=(0, 1, 5))
            except Exception as error:  # the others are run all the same
                done = {"error": str(error).strip().splitlines()[-1][:200]}
            results[row[0]] = {**done, "seconds": time.monotonic() - began}
            print(line(row[0], done), flush=True)
            with open(options.json, "w", encoding="utf-8") as stream:
                json.dump(results, stream, indent=1)
    print(f"\n{'':28} {'step, ms: predicted':>19} {'error':>8} {'peak, GiB: predicted':>19} {'error':>8}")
    for name, done in results.items():
        print(line(name, done))
    return 1 if any("error" in done for done in results.values()) else 0


raise SystemExit(main())
