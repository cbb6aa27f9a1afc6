"""The doctor on dumps of flight recorders: those in tests/data/doctor/flight were written by torch 2.11's own ranks over Gloo."""
# processors: 1
import json
import shutil

from _shardlab import SOURCE, Place, check, expect, main

DUMPS = SOURCE / "tests/data/doctor/flight/skips_one"


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
