"""Settings drawn at random (always the same ones, others with $SHARDLAB_SEED): the collectives of our plans are those that DeepSpeed makes
live, in the first, second and third step, and the losses of our real runs are its."""
import collections
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import STEPS, by_ranks, compare, draw_cases, tell
from _drawn_zero import VARIABLES, draw, draw_leaves, draw_rarer, is_zero0_in_16_bits
from _peer import SKIP, Folder, drawn, needed

# By what draws them and a seed: how many for each number of ranks.
CASES = [(draw, 1800, {2: drawn(4, 20), 4: drawn(2, 20)}), (draw_rarer, 2800, {2: drawn(1, 10), 4: drawn(2, 15)}),
         (draw_leaves, 3800, {2: drawn(3, 20)})]
EXACT, ROUNDED = 1e-4, 2e-3  # relative, of losses: float32, bfloat16


def compare_with_deepspeed(case, made):
    most = ROUNDED if "precision" in case["scenario"] else EXACT
    return compare("DeepSpeed", case, made, most, 1 if is_zero0_in_16_bits(case["scenario"]) else STEPS)


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON", "SHARDLAB_TRANSFORMERS")
    if subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-c", "import deepspeed"], env=dict(os.environ, DS_ACCELERATOR="cpu"),
                      capture_output=True).returncode:
        print("skipped: there is no DeepSpeed")
        sys.exit(SKIP)
    failures = 0
    with Folder() as folder:
        by_world = collections.defaultdict(list)  # started once for all: DeepSpeed takes long to load
        for settings, seed, counts in CASES:
            for world, cases in draw_cases(settings, counts, seed, folder):
                by_world[world] += cases
        for world, cases in by_world.items():
            answers = by_ranks("DeepSpeed", "SHARDLAB_TRANSFORMERS", "_deepspeed_worker.py", cases, world, folder, **VARIABLES)
            for case, made in zip(cases, answers):
                found = compare_with_deepspeed(case, made)
                failures += bool(found[0])
                tell(case, world, f"accumulation {case['scenario']['train']['accumulation']}, tied {case['config']['tie_word_embeddings']}, "
                     f"offload {' and '.join(case['scenario'].get('offload', {})) or 'of nothing'}, frozen {case['scenario']['model'].get('frozen', [])}, "
                     f"adapters {case['scenario']['model'].get('lora', {}).get('targets', [])}, skipped {sum(made['skipped'])}", *found)
    drawn_settings = sum(sum(counts.values()) for _, _, counts in CASES)
    print(f"{drawn_settings - failures} of {drawn_settings} settings equal")
    sys.exit(1 if failures else 0)


main()
