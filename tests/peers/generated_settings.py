"""Settings drawn at random (always the same ones, others with $SHARDLAB_SEED): the collectives of our plans are those that PyTorch's DDP, FSDP1 and FSDP2 make
live, in the first, second and third step, and the losses of our real runs are theirs."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import by_ranks, compare, draw_cases, tell
from _drawn_settings import draw
from _peer import Folder, drawn, needed

CASES_PER_WORLD = {2: drawn(6, 18), 4: drawn(5, 18)}
EXACT, ROUNDED = 1e-4, 2e-2  # relative, of losses: float32, bfloat16


def among_several(made):
    """PyTorch makes collectives over one rank, too, which no plan has."""
    return {**made, "collectives": [[call for call in calls if call["ranks"] > 1] for calls in made["collectives"]]}


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    failures = 0
    with Folder() as folder:
        for world, cases in draw_cases(draw, CASES_PER_WORLD, 1000, folder):
            for case, made in zip(cases, by_ranks("PyTorch", "SHARDLAB_PYTHON", "_strategy_worker.py", cases, world, folder)):
                scenario = case["scenario"]
                found = compare("PyTorch", case, among_several(made), ROUNDED if "precision" in scenario else EXACT)
                failures += bool(found[0])
                tell(case, world, f"frozen {scenario['model'].get('frozen', [])} "
                     f"accumulation {scenario['train']['accumulation']} sync {scenario['train']['sync']}", *found)
    sys.exit(1 if failures else 0)


main()
