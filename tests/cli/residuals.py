"""`residuals`: how far off the predictions of a database were, from runs that this machine has made."""

from _shardlab import Place, check, check_fields, expect, expect_error, main, needs_torch

needs_torch()

ROW_FIELDS = {"name": "text", "runs": "int", "count": "int", "predicted_ns": "int", "measured_ns": "int", "bias": "number",
              "median": "number", "share": "number"}


def test_residuals():
    place = Place()
    for _ in range(2):
        expect(place.run("simulate", place.scenario(), "--json"), 0)
    expect_error(place.run("residuals"), 3, "residuals", "validate")
    expect(place.run("run", place.scenario(), "--json", timeout=300), 0)
    found = expect(place.run("residuals", "--all", "--json"), 0).json()
    check([(pair["predicted"], pair["measured"]) for pair in found["pairs"]] == [("r2", "r3")], f"{found['pairs']}")
    for name in ("kinds", "parts", "operators"):
        for row in found[name]:
            check_fields(row, ROW_FIELDS, name)
    kinds = {row["name"]: row for row in found["kinds"]}
    check(kinds["Forward"]["measured_ns"] > 0 and kinds["Forward"]["runs"] == 1, f"{kinds}")
    check(abs(sum(row["share"] for row in found["parts"]) - 1) < 1e-9, "the parts are not the whole error")
    check(sum(row["predicted_ns"] for row in found["kinds"]) == sum(row["predicted_ns"] for row in found["parts"]), "two sums")
    text = expect(place.run("residuals", "--all", "--most", "30"), 0).out
    check("Forward of a layer" in text and "Backward of a layer" in text, text)
    expect_error(place.run("residuals", "--all", "--name", "other"), 3, "residuals")


main(globals())
