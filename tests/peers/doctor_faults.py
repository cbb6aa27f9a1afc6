"""Mistakes made in PyTorch's own programs, 2 and 3 ranks under torchrun: what the doctor says first of their logs, and of the dumps of their
flight recorders."""
# processors: 2
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_faults_worker.py")
# By mistake: codes of which one is to come first of the log.
LOGS = {
    "killed": ("Y-09", "E-09"),
    "other_models": ("A-03",),
    "unused_parameters": ("Y-03",),
    "two_types": ("Y-01",),
    "frozen_and_not": ("Y-02",),
    "plain_meets_distributed": ("Y-15",),
    "keys_differ": ("C-30",),
    "index_outside": ("Y-17",),
    "broken_file": ("E-19",),
}
# By mistake: the code that is to come first of the dumps, and the rank that is named.
DUMPS = {"skips_one": ("A-01", 1), "calls_another": ("A-01", 1), "other_sizes": ("C-22", 1)}


def started(mistake, folder, ranks):
    return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", WORKER, mistake, str(folder)],
                          capture_output=True, text=True, timeout=300, env=dict(os.environ, OMP_NUM_THREADS="1", TORCH_FR_BUFFER_SIZE="100"))


def examined(target):
    """The document of the doctor, which exits with 1 where something is wrong."""
    done = subprocess.run([os.environ["SHARDLAB"], "doctor", str(target), "--json"], capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def first_of(target):
    return (examined(target)["findings"] or [{"codes": [], "rule": "nothing", "ranks": [], "severity": "info"}])[0]


def wrong_of_log(mistake, codes, folder):
    done = started(mistake, folder, 2)
    log = folder / f"{mistake}.log"
    log.write_text(done.stdout + done.stderr)
    finding = first_of(log)
    print(f"{mistake}: {finding['rule']} {' '.join(finding['codes'])}")
    if not set(codes) & set(finding["codes"]):
        return f"{mistake}: {finding}\n{log.read_text()[-3000:]}"


def wrong_of_dumps(mistake, code, rank, folder):
    place = folder / mistake
    place.mkdir()
    done = started(mistake, place, 3)
    finding = first_of(place)
    print(f"{mistake}: {finding['rule']}, ranks {finding['ranks']}: {finding.get('message')}")
    if code not in finding["codes"] or finding["ranks"] != [rank]:
        return f"{mistake}: {finding}\n{done.stdout}{done.stderr}"


with Folder() as folder:
    wrong = [wrong_of_log(mistake, codes, folder) for mistake, codes in LOGS.items()]
    wrong += [wrong_of_dumps(mistake, *expected, folder) for mistake, expected in DUMPS.items()]
    well = folder / "well"
    well.mkdir()
    started("all_is_well", well, 2)
    assert len(list(well.iterdir())) == 2, "no dumps"
    quiet = examined(well)
    if quiet["findings"] or not quiet["notes"]:
        wrong.append(f"not quiet: {quiet}")
wrong = [each for each in wrong if each]
print(f"{len(LOGS) + len(DUMPS) + 1 - len(wrong)} of {len(LOGS) + len(DUMPS) + 1} as they should be")
sys.exit("\n".join(wrong) if wrong else 0)
