"""shardlab bench: real ranks, rates of everything asked for, and every pair of ranks."""

from _shardlab import Place, check, check_fields, expect, expect_error, main, needs_torch

needs_torch()


def test_everything_on_two_ranks():
    place = Place()
    report = expect(place.run("bench", "--json", "--seconds", "20", timeout=180), 0).json()
    check_fields(report, {"machine": "text", "versions": "map", "measurements": "list", "pairs": "list", "findings": "list"})
    for row in report["measurements"]:
        check_fields(row, {"name": "text", "size": "text", "time_ns": "int"})
        rate = row.get("flops_per_second") or row.get("bytes_per_second")
        check(rate and 1e5 < rate < 1e15, f"{row}")
    names = {row["name"].split(".")[0] for row in report["measurements"]}
    check({"matmul", "attention", "copy", "all_gather", "reduce_scatter", "all_reduce"} <= names, f"{names}")
    collectives = [row for row in report["measurements"] if row["name"] == "all_reduce"]
    for row in collectives:
        # An all-reduce of two ranks puts as much on each link as it is large.
        check(abs(row["bus_bytes_per_second"] / row["bytes_per_second"] - 1) < 1e-9, f"{row}")
    check(len(report["pairs"]) == 1 and report["pairs"][0]["ranks"] == [0, 1], f"{report['pairs']}")
    check(not place.db.exists(), "a benchmark left a database")


def test_pairs_of_three_ranks_alone():
    place = Place()
    report = expect(place.run("bench", "pairs", "--ranks", "3", "--json", timeout=120), 0).json()
    check(report["measurements"] == [], f"{report['measurements']}")
    check([pair["ranks"] for pair in report["pairs"]] == [[0, 1], [0, 2], [1, 2]], f"{report['pairs']}")
    for pair in report["pairs"]:
        check(pair["latency_ns"] > 0 and pair["bytes_per_second"] > 1e5, f"{pair}")
    check(report["findings"], "nothing is said")
    text = expect(place.run("bench", "pairs", "--ranks", "3", timeout=120), 0).out
    check("0 - 1" in text and "GB/s" in text, text)


def test_what_cannot_be_measured():
    place = Place()
    expect_error(place.run("bench", "--ranks", "2", "--cluster", "{device: cpu, ranks: 2}"), 2, "--cluster")
    expect_error(place.run("bench", "everything"), 2, "everything")
    expect_error(place.run("bench", "--cluster", "{gpu: H100-SXM, gpus_per_node: 2, nodes: 2, inter_node_gbps_per_gpu: 400}"), 3, "one machine")


main(globals())
