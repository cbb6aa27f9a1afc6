"""What the ranks of another framework's trainings have in common. argv: cases (JSON file) and the folder to answer in."""
import json
import os
import sys

import torch
import torch.distributed as dist


def record_steps(recorder, case, world, train_step):
    """The mean losses of all ranks and the collectives, step by step; `train_step` gives the loss of a step of this rank."""
    losses, collectives = [], []
    for step in range(case["steps"]):
        recorder.calls, recorder.on = [], True
        losses.append(train_step(step))
        recorder.on = False
        collectives.append(recorder.calls)
    losses = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(losses)
    return {"losses": (losses / world).tolist(), "collectives": collectives}


def answer(run, prepare=lambda: None):
    """Answers with run(case, rank, world) of every case, by rank 0, and ends the process. `prepare` comes after the process group."""
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    folder, rank, world = sys.argv[2], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world)
    prepare()
    answers = [run(case, rank, world) for case in cases]
    if rank == 0:
        with open(os.path.join(folder, "answer.json"), "w") as file:
            json.dump(answers, file)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # Gloo's destructors sometimes abort at a normal exit after the work is done
