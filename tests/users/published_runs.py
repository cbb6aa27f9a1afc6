"""The table of published runs: how far predictions are from it, with the targets beside; no row that could be expressed may be lost."""
# processors: 1

from _answers import SOURCE, User, check, main

# Median of |predicted / published - 1| that is aimed at, by how memory was measured. Printed, not asserted: what is not modelled yet
# stands in docs/backtest.md.
TARGETS = {"allocated": 0.05, "active": 0.05, "reserved": 0.08, "driver": 0.08, "unspecified": 0.08}
# Rows that say all that a scenario needs and are data-parallel, and how many of them can be expressed.
COMPLETE_IN_MEMORY, EXPRESSIBLE_IN_MEMORY, EXPRESSIBLE_IN_TIME = 27, 24, 312


def line_of(document, by, key):
    return next((line for line in document["summary"] if (line["by"], line["key"]) == (by, key)), None)


def shown(line, target=None):
    errors = f"median {line['median']:.1%}, 90 % within {line['p90']:.1%}, worst {line['worst']:.1%}, bias {line['bias']:+.1%}" if line["n"] else "-"
    aim = f"  (target {target:.0%}: {'met' if line['median'] <= target else 'not met'})" if target and line["n"] else ""
    print(f"        {line['by']} {line['key']}: {line['n']} of {line['expressible']} of {line['rows']} rows: {errors}{aim}")


# Runs that ran and are said not to fit, though nothing stands for anything in them: predicted blind, 10 to 13 % too much. They took 22.4 of
# 23.7 GiB, at 24,576 tokens a board.
KNOWN_MISSES = {"answerai-q-7b-4090-b12-offload", "answerai-q-mistral-4090-b12-offload", "answerai-q-mistral-4090-b1-s24576-offload"}

# Stand-ins of the third table: a benchmark that never updates, for which SGD does; and adapters of a 70B model that are float32, out of
# memory on two boards, here in bfloat16.
THIRD_MISSES = {"vectorlm-8b-full-n1-s2048", "vectorlm-8b-full-n1-s4096", "vectorlm-8b-full-n1-s8192"}
THIRD_FAILURES = {"fms-l2-70b-qlora-n2-b4-oom"}


def check_verdicts(document, known=frozenset()):
    """Runs that ran are not said to be too large, but for stand-ins of other programs, and those are few: 7 of 370."""
    wrong = [row for row in document["rows"] if row["fits"] == "no" and not row["ran_out_of_memory"]]
    for row in wrong:
        print(f"        ran, said not to fit: {row['id']}: {'; '.join(row['nearest']) or 'unexplained'}")
    ran = document["verdicts"]["ran"]
    most = max(1, sum(ran.values()) * 7 // 370)
    print(f"        {len(wrong)} runs that ran are said not to fit (target at most {most}: {'met' if len(wrong) <= most else 'NOT MET'})")
    others = [row for row in wrong if row["id"] not in known]
    check(len(wrong) == ran["no"] and all(row["nearest"] for row in others), f"runs that ran do not fit: {ran}")
    check(len(others) <= most, f"{len(others)} runs that ran do not fit: {ran}")


def test_memory():
    user = User()
    document = user.ask("backtest", "--no-store", "--json").json()
    for key, target in TARGETS.items():
        shown(line_of(document, "kind", key), target)
    complete = line_of(document, "kind", "complete")
    shown(complete)
    check(complete["rows"] == COMPLETE_IN_MEMORY, f"{complete}")
    check(complete["expressible"] >= EXPRESSIBLE_IN_MEMORY, f"rows were lost: {complete}")
    check(complete["expressible"] == document["summary"][0]["expressible"], f"{document['summary'][0]}")
    for row in document["rows"]:
        check(row["expressible"] or row["reason"], f"no reason: {row}")
        check(row["predicted"] is not None or row["reason"] or row["ran_out_of_memory"], f"no reason: {row}")
        if row["error"] is not None and abs(row["error"]) > 0.2:
            print(f"        above 20 %: {row['id']} {row['error']:+.1%}: {'; '.join(row['nearest']) or 'unexplained'}")
    check_verdicts(document)
    user.done(1)


def test_time():
    user = User()
    document = user.ask("backtest", "--no-store", "--metric", "time", "--band", "90", "--json").json()
    for line in document["summary"]:
        if line["by"] in ("all", "source", "kind") and line["expressible"]:
            shown(line)
    print(f"        within the 90 % bands of the other sources: {document['within_bands']:.1%}")
    for line in document["summary"]:
        if line["by"] == "source" and line["banded"]:
            held = line["in_band"] / line["banded"]
            print(f"        {line['key']}: {line['in_band']} of {line['banded']} in their band (target 80 to 97 %: {'met' if 0.8 <= held <= 0.97 else 'NOT MET'})")
    check(document["summary"][0]["n"] >= EXPRESSIBLE_IN_TIME, f"rows were lost: {document['summary'][0]}")
    check_verdicts(document)
    user.done(1)


def test_later_runs():
    """Found after the rules and the models were made: predicted before anything was mended (docs/backtest.md)."""
    user = User()
    later = SOURCE / "assets/backtest/later"
    document = user.ask("backtest", later / "later_runs.csv", "--more-rules", later, "--no-store", "--json").json()
    for line in document["summary"]:
        if line["by"] in ("all", "source", "kind") and line["expressible"]:
            shown(line)
    check(document["summary"][0]["expressible"] >= 146, f"rows were lost: {document['summary'][0]}")
    check_verdicts(document, KNOWN_MISSES)
    failed = document["verdicts"]["ran_out_of_memory"]
    check(failed["yes"] == 0, f"runs that were out of memory are said to fit: {failed}")
    user.done(1)


def test_third_runs():
    """Likewise, of sources in neither table. Of time too, whose rows say what has no memory printed."""
    third = SOURCE / "assets/backtest/third"
    for metric, expressible in (("memory", 72), ("time", 110)):
        user = User()
        document = user.ask("backtest", third / "third_runs.csv", "--more-rules", third, "--metric", metric, "--no-store", "--json").json()
        for line in document["summary"]:
            if line["by"] in ("all", "source", "kind") and line["expressible"]:
                shown(line)
        check(document["summary"][0]["expressible"] >= expressible, f"rows were lost: {document['summary'][0]}")
        check_verdicts(document, THIRD_MISSES)
        fit = {row["id"] for row in document["rows"] if row["ran_out_of_memory"] and row["fits"] == "yes"}
        check(fit <= THIRD_FAILURES, f"runs that were out of memory are said to fit: {fit}")
        user.done(1)


main(globals())
