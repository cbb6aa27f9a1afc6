"""The doctor on dumps of flight recorders: those in tests/data/doctor/flight were written by torch 2.11's own ranks over Gloo."""
# processors: 1
import json
import pickle
import shutil

from _shardlab import SOURCE, Place, check, expect, main

DUMPS = SOURCE / "tests/data/doctor/flight/skips_one"
STEPS = SOURCE / "tests/data/doctor/flight/fsdp2_steps"
SCENARIO = """name: recorded
model: {config: tiny-llama, sequence_length: 128, implementation: eager}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, clip_norm: 1.0, data: [assets/data/licenses.txt]}
measure: {warmup_steps: 1, steps: 2}
"""


def first(done):
    return json.loads(expect(done, 1).out)["findings"][0]


def test_a_folder_or_files_name_the_rank_that_did_not_call():
    place = Place()
    for targets in ([DUMPS], sorted(DUMPS.iterdir())):
        finding = first(place.run("doctor", *map(str, targets), "--json"))
        check(finding["rule"] == "collectives/rank-skips" and finding["ranks"] == [1], finding)
        check(any("train.py" in seen["text"] for seen in finding["evidence"]), finding)


def test_a_log_beside_dumps_is_one_case():
    place = Place()
    (place.path / "job.log").write_text("[rank0]: RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 20000ms for recv "
                                        "operation to complete\n")
    findings = json.loads(expect(place.run("doctor", str(DUMPS), "job.log", "--json"), 1).out)["findings"]
    check(findings[0]["rule"] == "collectives/rank-skips", findings)
    check(findings[0]["ranks"] == [1], findings)


def test_a_rank_without_a_dump_is_told():
    finding = first(Place().run("doctor", str(DUMPS / "trace_rank_0"), str(DUMPS / "trace_rank_2"), "--json"))
    check(finding["rule"] == "collectives/timeout" and "Rank 1 left no dump" in finding["message"], finding)


def cut(place, last):
    """The steps as if rank 1 had not called what is number `last`, in which rank 0 waits."""
    folder = place.path / f"cut{last}"
    folder.mkdir()
    for rank in (0, 1):
        with open(STEPS / f"trace_{rank}", "rb") as file:
            dump = pickle.load(file)
        dump["entries"] = [entry for entry in dump["entries"] if entry["collective_seq_id"] <= last - rank]
        dump["entries"][-1]["retired"] = rank == 1
        dump["pg_status"]["0"]["last_completed_collective"] = last - 1
        with open(folder / f"trace_{rank}", "wb") as file:
            pickle.dump(dump, file, protocol=2)
    return str(folder)


def test_beside_a_scenario_the_instruction_is_named():
    """Every collective of the second step that PyTorch recorded, against the collectives of our plan in their order."""
    place = Place()
    (place.path / "tiny.yaml").write_text(SCENARIO)
    plan = json.loads(expect(place.run("plan", "tiny.yaml", "--json"), 0).out)
    planned = [f"{i['kind']} {i['unit']}" for i in plan["instructions"] if i["kind"] in ("AllGather", "ReduceScatter")]
    first_of_step, named = 83, []
    for number in range(len(planned)):
        done = place.run("doctor", "tiny.yaml", cut(place, first_of_step + number), "--json")
        finding = json.loads(expect(done, 1).out)["findings"][0]
        check(finding["rule"] == "collectives/rank-skips", finding)
        named += [seen["where"] for seen in finding["evidence"] if seen["where"].startswith("plan, instruction")]
        check(len(named) == number + 1 and named[-1].endswith(planned[number]), f"{number}: {named[-1:]}, planned {planned[number]}")
    print(f"{len(named)} collectives of a step named as instructions")
    other = cut(place, first_of_step - 1)
    done = place.run("doctor", "tiny.yaml", other, "--set", "model.overrides={hidden_size: 128}", "--json")
    finding = json.loads(expect(done, 1).out)["findings"][0]
    check(not any(seen["where"].startswith("plan") for seen in finding["evidence"]), finding)


def test_what_cannot_be_read_is_refused():
    place = Place()
    (place.path / "empty").mkdir()
    done = place.run("doctor", "empty")
    check(done.code == 2 and "without dumps" in done.err, done)
    shutil.copy(DUMPS / "trace_rank_0", place.path / "again_0")
    done = place.run("doctor", str(DUMPS), "again_0")
    check(done.code == 2 and "is of rank 0, and so is" in done.err, done)
    (place.path / "evil_0").write_bytes(b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.")
    done = place.run("doctor", "evil_0")
    check(done.code == 2 and "would run code" in done.err, done)


main(globals())
