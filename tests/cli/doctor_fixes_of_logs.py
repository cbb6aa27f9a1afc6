"""--fix of a scenario with its log: settings that mend what the log shows are applied, the rest is said, and nothing is passed over."""
# processors: 1
import shutil

from _shardlab import SOURCE, Place, check, expect, main

CASES = SOURCE / "tests/data/doctor/scenarios"
UNUSED = ("[rank0]: RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.\n"
          "Parameter indices which did not receive grad for rank 0: 3 4\n")
PORT = ("RuntimeError: The server socket has failed to listen on any local network address. "
        "The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).\n")
FAILED = ('[rank0]:   File "/x/modeling_llama.py", line 9, in forward\n'
          "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")


def fixed(place, log, *more, strategy="fsdp2", extra=""):
    scenario = place.scenario(strategy=strategy, extra=extra)
    (place.path / "job.log").write_text(log)
    return place.run("doctor", scenario, "job.log", "--fix", "-o", "fixed.yaml", *more)


def test_a_setting_that_the_log_asks_for_is_in_the_file():
    place = Place()
    done = fixed(place, FAILED, "--json")
    report = done.json()["fixed"]
    check("memory/activations-dominate" in report["rules"], "its fix is applied", done)
    check("activation.checkpoint=full" in report["set"], "as a setting", done)
    check("checkpoint: full" in (place.path / "fixed.yaml").read_text(), (place.path / "fixed.yaml").read_text())
    check(report["left"] == [], "more general words about the same line are not left", done)


def test_what_no_setting_mends_is_said():
    place = Place()
    done = fixed(place, PORT)
    expect(done, 1)
    check("start/port-in-use" in done.out and "seen in job.log line 1" in done.out, "the finding", done)
    check("not fixed: a command" in done.out and "ss -ltnp" in done.out, "and why", done)
    check("there was nothing to fix" not in done.out, "which is not nothing", done)
    left = fixed(Place(), PORT, "--json").json()["fixed"]["left"]
    check([each["rule"] for each in left] == ["start/port-in-use"] and "command" in left[0]["why"], left)


def test_a_setting_that_the_scenario_has_already_is_no_fix():
    done = fixed(Place(), FAILED, extra="activation: {checkpoint: full}\n")
    expect(done, 1)
    check("not fixed: the scenario has" in done.out, "says so", done)


def test_a_setting_that_is_not_allowed_is_said():
    done = fixed(Place(), UNUSED, strategy="fsdp2")
    expect(done, 1)
    check("not fixed: the scenario does not allow" in done.out, "says so", done)
    done = expect(fixed(Place(), UNUSED, strategy="ddp"), 0)
    check("set: parallel.ddp.find_unused_parameters=true" in done.out, "where it is allowed it is set", done)


def test_a_log_without_failure_is_named():
    done = fixed(Place(), "step 1 loss 5.1\nstep 2 loss 5.0\n")
    check("job.log: nothing" in done.out, "the log was looked at", done)


def test_one_rule_that_both_show_is_fixed_once():
    place = Place()
    shutil.copy(CASES / "memory.activations-dominate.yaml", place.path / "job.yaml")
    (place.path / "job.log").write_text(FAILED)
    both = place.run("doctor", "job.yaml", "job.log", "--fix", "-o", "both.yaml", "--json").json()["fixed"]
    alone = place.run("doctor", "job.yaml", "--fix", "-o", "alone.yaml", "--json").json()["fixed"]
    check(both["rules"] == alone["rules"] and both["set"] == alone["set"], f"{both}\n{alone}")
    check(both["left"] == [], both)


def test_two_logs_are_refused():
    place = Place()
    (place.path / "other.log").write_text(PORT)
    done = fixed(place, PORT, "other.log")
    check(done.code == 2 and "one log" in done.err, "refused", done)


main(globals())
