"""What torch.autocast does with the functions that our operators stand for (tests/data/autocast_rules.txt), from the lists in the header of
the installed torch, ATen/autocast_mode.h: those of CUDA. A loss is computed in float32 by what it is made of.
"""
# processors: 1
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import SOURCE, needed


def lists(header):
    found = {}
    for name in ("LOWER_PRECISION_FP", "FP32", "PROMOTE"):
        body = re.search(r"#define AT_FORALL_%s\(_\)((?:.*\\\n)*.*\n)" % name, header).group(1)
        found[name] = {entry.split(",")[0].strip() for entry in re.findall(r"_\(([^)]*)\)", body)}
    return found


def rule_of(function, known):
    if function in known["LOWER_PRECISION_FP"]:
        return "lower"
    return "full" if function in known["FP32"] else "widest"


def main():
    needed("SHARDLAB_PYTHON")
    folder = subprocess.run([os.environ["SHARDLAB_PYTHON"], "-c", "import torch; print(torch.__version__, torch.__path__[0])"],
                            capture_output=True, text=True, check=True).stdout.split()
    header = open(os.path.join(folder[1], "include/ATen/autocast_mode.h")).read()
    known = lists(header)
    wrong = rows = 0
    for line in open(SOURCE / "tests/data/autocast_rules.txt"):
        if line.startswith("#"):
            continue
        operator, rule, *functions = line.split()
        rules = {rule_of(function, known) for function in functions}
        rows += 1
        # Several rules within one operator are what no description of one dtype can say.
        good = rules == {"full"} if rule in ("undescribed", "widens") else rules == {rule}
        wrong += not good
        if not good:
            print(f"{operator}: {rule} here, {' '.join(sorted(rules))} in torch {folder[0]}: WRONG")
    for part in ("nll_loss",):  # of cross_entropy_loss; log_softmax is given float32 as its dtype
        wrong += part not in known["FP32"]
    print(f"{rows} operators compared with the lists of torch {folder[0]}, {wrong} differ")
    sys.exit(1 if wrong else 0)


main()
