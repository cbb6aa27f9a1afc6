"""`shardlab doctor`: a log gives findings, exit codes, three formats; large and hostile logs take bounded time and memory."""
# processors: 1
import gzip
import json
import os
import random
import re
import subprocess
import time

from _shardlab import PROGRAM, SOURCE, Place, check, expect, expect_error, main

OOM = ("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 388.00 MiB. GPU 0 has a total capacity of 9.68 GiB of which "
       "95.75 MiB is free. Including non-PyTorch memory, this process has 9.54 GiB memory in use. Of the allocated memory 6.61 GiB is allocated "
       "by PyTorch, and 2.57 GiB is reserved by PyTorch but unallocated.\n")
HEALTHY = "step 1 loss 2.1\nstep 2 loss 2.0\n"


def log(place, text, name="job.log"):
    file = place.path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)


def test_a_log_gives_findings():
    place = Place()
    done = expect(place.run("doctor", log(place, HEALTHY + OOM)), 1)
    first = done.out.splitlines()
    check(first[0].startswith("error on rank 3: 2.57 GiB (27 % of the device) are reserved") and "C-09 memory/fragmentation" in first[0], done)
    check("job.log line 3, rank 3: " in first[1] and first[2].startswith("  why: ") and first[3].startswith("  fix: "), done)
    quiet = expect(place.run("doctor", log(place, HEALTHY)), 0)
    check("job.log: 2 lines, none of which tells of a failure\n0 errors, 0 warnings" in quiet.out, quiet)
    ignored = expect(place.run("doctor", log(place, OOM), "--ignore", "C-09", "--json"), 1).json()
    check(all(finding["rule"] != "memory/fragmentation" for finding in ignored["findings"]), ignored)
    check({"rule": "memory/fragmentation", "why": "is ignored"} in ignored["skipped"], ignored["skipped"])


def test_standard_input_and_formats():
    place = Place()
    piped = subprocess.run([PROGRAM, "doctor", "-", "--json"], input=OOM, capture_output=True, text=True, env=place.environment(), timeout=60)
    finding = json.loads(piped.stdout)["findings"][0]
    check(piped.returncode == 1 and finding["codes"] == ["C-09"], piped)
    check(set(finding) == {"rule", "codes", "severity", "title", "message", "evidence", "ranks", "fix", "effect"}, finding)
    check(finding["evidence"][0]["source"] == "-" and finding["evidence"][0]["where"] == "line 1, rank 3", finding)
    check(finding["fix"]["kind"] == "environment" and finding["effect"] is None, finding)
    file = log(place, OOM)
    sarif = json.loads(expect(place.run("doctor", file, "--format", "sarif"), 1).out)
    check(sarif["version"] == "2.1.0" and sarif["runs"][0]["results"][0]["ruleId"] == "memory/fragmentation", sarif["runs"][0]["results"])
    check(json.loads(place.run("doctor", file, "--format", "sarif", "--json").out) == sarif, "--json changes SARIF")
    check(json.loads(place.run("doctor", file, "--format", "json").out) == place.run("doctor", file, "--json").json(), "two kinds of JSON")


def test_rules():
    place = Place()
    rules = expect(place.run("doctor", "--rules", "--json"), 0).json()["rules"]
    check(len({code for rule in rules for code in rule["codes"]}) == 208, len(rules))
    text = expect(place.run("doctor", "--rules"), 0).out
    check(all(rule["id"] in text for rule in rules) and "not checked yet" in text, text[:300])
    explained = expect(place.run("doctor", "--explain", "y-16"), 0).out
    check("memory/held-by-others" in explained and "example" in explained, explained)
    unchecked = next(rule for rule in rules if not rule["checked"] and rule["not_yet"])
    check("not checked yet" in expect(place.run("doctor", "--explain", unchecked["id"]), 0).out, unchecked)


def test_fixes_set_keys_and_values_that_a_scenario_knows():
    reference = (SOURCE / "docs" / "scenario.md").read_text(encoding="utf-8")
    values = dict(re.findall(r"^\| `([a-z_0-9.]+)` \| ([^|]*) \|", reference, re.MULTILINE))
    rules = expect(Place().run("doctor", "--rules", "--json"), 0).json()["rules"]
    settings = [(rule["id"], *setting.split("=")) for rule in rules if rule["fix"]["kind"] == "settings" for setting in rule["fix"]["set"]]
    check(len(settings) > 20, settings)
    for rule, key, value in settings:
        check(key in values, f"{rule} sets {key}, which is no key")
        if values[key].startswith("word: "):
            check(value in re.split(r"[:,] ", values[key]), f"{rule} sets {key}={value}; known: {values[key]}")


def test_a_program_is_looked_at_and_belongs_to_its_log():
    place = Place()
    (place.path / "train.py").write_text("import torch\nfully_shard(model)\nfor layer in model.layers:\n    fully_shard(layer)\n")
    (place.path / "job.log").write_text("[rank0]: RuntimeError: CUDA error: out of memory\n")
    done = expect(place.run("doctor", "train.py"), 1)
    check("wrap/unit-order" in done.out and "train.py line 2: fully_shard(model)" in done.out, done)
    both = expect(place.run("doctor", "train.py", "job.log", "--json"), 1).json()
    check({"wrap/unit-order"} < {finding["rule"] for finding in both["findings"]}, both)
    expect_error(place.run("doctor", "nothing.py"), 2, "nothing.py")


def test_bad_input():
    place = Place()
    expect_error(place.run("doctor"), 2, "target")
    expect_error(place.run("doctor", place.path), 2, "is a folder")
    expect_error(place.run("doctor", "nothing.log"), 2, "nothing.log")
    expect_error(place.run("doctor", log(place, "")), 2, "is empty")
    expect_error(place.run("doctor", "--explain", "memory/fragmentatoin"), 2, "did you mean 'memory/fragmentation'?")
    expect_error(place.run("doctor", log(place, OOM), "--ignore", "Z-99"), 2, "Z-99")
    expect_error(place.run("doctor", place.scenario(), "--fix"), 2, "-o FILE")


def test_a_large_log():
    """Prints how long 100 MB take beside the target, and asserts what does not depend on the machine: memory and the finding."""
    place = Place()
    block = "".join(f"[rank{i % 8}]: 2026-01-02 10:20:{i % 60:02d} INFO trainer.py:88] step {i} loss 2.1 lr 1e-4\n\r {i % 100}%|##  | {i}/9" for i in range(9000))
    size = 100_000_000
    file = place.path / "large.log"
    with file.open("w") as out:
        for _ in range(size // len(block)):
            out.write(block)
        out.write("\n" + OOM)
    begin = time.monotonic()
    process = subprocess.Popen([PROGRAM, "doctor", str(file), "--json"], stdout=subprocess.PIPE, env=place.environment())
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    print(f"{file.stat().st_size / 1e6:.0f} MB in {seconds:.2f} s, {file.stat().st_size / 1e6 / seconds:.0f} MB/s (asked: 20), "
          f"{usage.ru_maxrss / 1024:.0f} MiB of memory")
    check(json.loads(out)["findings"][0]["codes"] == ["C-09"], out[:300])
    check(usage.ru_maxrss < 200 * 1024, f"{usage.ru_maxrss} KiB")
    print(f"target 5 s of a processor: {'met' if usage.ru_utime < 5 else 'NOT MET'}")


def test_hostile_logs():
    place = Place()
    expect(place.run("doctor", log(place, b"\xff\xfe" + OOM.encode("utf-16-le"))), 1)
    expect(place.run("doctor", log(place, b"\x1b[31m" + OOM.encode() + b"\xc3\x28\xff" * 1000)), 1)
    expect(place.run("doctor", log(place, b"x" * 5_000_000 + OOM.encode())), 1)
    damaged = random.Random(3)
    expect(place.run("doctor", log(place, bytes(damaged.choice(b"\x01\x02ab\xff\n") for _ in range(9000)) + b"\n" + OOM.encode())), 1)


def test_what_is_no_log_is_refused():
    place = Place()
    for rubbish in (bytes(range(256)) * 4000, random.Random(1).randbytes(100_000)):
        expect_error(place.run("doctor", log(place, rubbish)), 2, "job.log", "is not a text")
        piped = subprocess.run([PROGRAM, "doctor", "-"], input=rubbish, capture_output=True, env=place.environment(), timeout=60)
        check(piped.returncode == 2 and b"is not a text" in piped.stderr, piped)
    packed = log(place, gzip.compress(OOM.encode()), "job.log.gz")
    expect_error(place.run("doctor", packed), 2, "is compressed", f"zcat {packed} | shardlab doctor -")


main(globals())
