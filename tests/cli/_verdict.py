"""What `validate --json` says of a prediction beside its run."""

from _shardlab import check, check_fields

MACHINE_FIELDS = {"slowdown_before": "map?", "slowdown_after": "map?", "processors": "int?", "own_processors": "number?",
                  "others_processors": "number?"}


def check_verdict(result):
    """The exit code says what the document says; the document is returned."""
    document = result.json()
    check_fields(document["machine"], MACHINE_FIELDS, "machine")
    judged = document["times_not_judged"] is None
    check(result.code == {"pass": 0, "fail": 1, "not judged": 0 if judged else 5}[document["verdict"]], "exit code and verdict differ", result)
    return document
