"""`validate` while other programs have the processors: it calibrates again and again, for minutes."""

import os
import subprocess
import sys

from _shardlab import Place, check, expect, main, needs_torch
from _verdict import check_verdict

needs_torch()


def test_load_of_other_programs_is_no_failure():
    place = Place()
    text = open(place.scenario(steps=8), encoding="utf-8").read().replace("steps: 8}", "steps: 8, tolerance: {step_time: 5%, peak_allocated: 1%}}")
    expect(place.run("calibrate", timeout=300), 0)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    try:
        result = place.run("validate", place.scenario(text=text), "--json", timeout=500)
    finally:
        for each in busy:
            each.kill()
            each.wait()
    document = check_verdict(result)
    metrics = {metric["name"]: metric for metric in document["metrics"]}
    check(metrics["step_time"]["verdict"] in ("pass", "not judged"), f"the load is taken for a mistake: {metrics['step_time']}", result)
    check(metrics["peak_allocated"]["verdict"] == "pass", "memory is judged as ever", result)
    if metrics["step_time"]["verdict"] == "not judged":
        expect(result, 5)
        why = document["times_not_judged"]
        check("of the processors meanwhile" in why or "as when calibrated" in why, why)
        judged = expect(place.run("diff", document["predicted"]["run_id"], document["measured"]["run_id"], "--json"), 5).json()
        check(judged["times_not_judged"] == why and judged["verdict"] == document["verdict"], "diff judges what validate did not")


main(globals())
