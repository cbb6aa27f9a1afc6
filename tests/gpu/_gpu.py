"""What the scripts of this folder share: the device, the scenarios, running ours and theirs. Standard library only.

Environment: SHARDLAB (the program), SHARDLAB_PYTHON (Python with torch and transformers). SHARDLAB_REHEARSE=1 runs everything on this
machine's processors with small sizes, as runs of GPUs where SHARDLAB is build/rehearsal/shardlab, which has a processor in the place of the
GPU: it shows that the scripts work, and measures nothing of interest. SHARDLAB_RANKS: "2,4", the numbers of ranks to train with;
SHARDLAB_STRATEGIES: names of training.py.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
TEXT = SOURCE / "assets/data/licenses.txt"
REHEARSE = os.environ.get("SHARDLAB_REHEARSE") == "1"
SKIP = 77

SMALL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128, "intermediate_size": 352,
         "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 512,
         "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu",
         "tie_word_embeddings": False}


def gpus():
    """Names of the GPUs of this machine; none where nvidia-smi is missing or lists none."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []


def need_gpu():
    """Skips the script unless there is a GPU (or this is a rehearsal) and the programs are named. Returns the GPU's name."""
    for name in ("SHARDLAB", "SHARDLAB_PYTHON"):
        if not pathlib.Path(os.environ.get(name) or "/nowhere").exists():
            print(f"skipped: {name} is not set or names nothing")
            sys.exit(SKIP)
    if REHEARSE:
        return "processors (rehearsal)"
    found = gpus()
    if not found:
        print("skipped: no GPU (nvidia-smi lists none)")
        sys.exit(SKIP)
    return found[0]


def catalogue_name(reported, names):
    """Which of the catalogue's names a device is that its driver calls `reported` ("NVIDIA H100 80GB HBM3"): the part before the first
    dash is one of its words, or two side by side; of several the one with most further words in common, then the SXM one."""
    words = reported.replace("-", " ").split()
    known = {word.upper() for word in words}
    pairs = words + [a + b for a, b in zip(words, words[1:])]
    fitting = [name for name in names if name.split("-")[0] in pairs]
    if not fitting:
        sys.exit(f"`shardlab hardware` has no {reported}")
    in_common = lambda name: sum(part.upper() in known for part in name.split("-")[1:])
    return max(fitting, key=lambda name: (in_common(name), "SXM" in name, name))


def cluster(ranks=1):
    """This machine as a scenario's cluster. The GPU's description matters to predictions alone."""
    if REHEARSE:
        return {"gpu": "H100-SXM", "gpus_per_node": ranks}
    return {"gpu": catalogue_name(gpus()[0], [gpu["name"] for gpu in shardlab("hardware")["gpus"]]), "gpus_per_node": ranks}


def write(folder, name, scenario):
    file = pathlib.Path(folder) / f"{name}.yaml"
    text = json.dumps(scenario, indent=1)  # JSON is YAML, but for times, which must not be in quotes
    file.write_text(re.sub(r'"timeout": "(\w+)"', r'"timeout": \1', text))
    return file


def scenario(folder, config, **sections):
    """A scenario file's content around a model, with our own kernels; `sections` replace or add to single sections."""
    file = pathlib.Path(folder) / "config.json"
    file.write_text(json.dumps(config))
    content = {"name": "gpu", "model": {"config": str(file), "sequence_length": 128, "implementation": "fused"}, "cluster": cluster(),
               "parallel": {"strategy": "fsdp2"},
               "train": {"micro_batch": 2, "learning_rate": 1e-3, "order": "sequential", "data": str(TEXT)},
               "measure": {"warmup_steps": 2, "steps": 5}, "launch": {"timeout": "60s"}}
    for key, value in sections.items():
        content[key] = {**content.get(key, {}), **value} if isinstance(value, dict) and key != "cluster" else value
    return content


def shardlab(*arguments, code=0, timeout=120, env=None):
    """Parsed --json of a command that must end with `code`, or one of several; of one that must fail (4) its words on stderr."""
    codes = code if isinstance(code, tuple) else (code,)
    command = [os.environ["SHARDLAB"], *map(str, arguments), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})})
    if done.returncode not in codes:
        raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}, expected {code}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout) if 0 in codes else done.stderr


def device_memory(spools):
    """What rank 0's allocator and driver said over a run that kept its spools in that folder (engine/trace/device_memory.h)."""
    end = json.loads((pathlib.Path(spools) / "rank-0.spool").read_text().splitlines()[-1])
    return end.get("device_memory") or end["end"]["device_memory"]


class Folder(tempfile.TemporaryDirectory):
    def __enter__(self):
        return pathlib.Path(super().__enter__())


def main(tests):
    """Runs the functions test_*, or those whose names begin with test_ and one of the arguments, and says which failed and how long each
    took. One that fails, whatever it throws, takes nothing from the others."""
    failed, run = [], 0
    for name, test in tests.items():
        if not name.startswith("test_") or sys.argv[1:] and not any(name.startswith("test_" + part) for part in sys.argv[1:]):
            continue
        run += 1
        began = time.monotonic()
        try:
            test()
            print(f"good    {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed.append(name)
            print(f"FAILED  {name} ({time.monotonic() - began:.1f} s): {type(error).__name__}: {error}", flush=True)
    if not run:
        sys.exit(f"no test is called {' or '.join(sys.argv[1:])}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__" and sys.argv[1:] == ["cluster"]:
    print(json.dumps(cluster(1)))
