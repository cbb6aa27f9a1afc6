"""What the window is asked for on its command line, and what it cannot be: each ends with one message, before anything is opened."""
# processors: 1

import json
import os

from _watched import Place, check, watch

from _shardlab import main


def test_a_window_has_no_document():
    """--json prints one document with every command: of this one it is an error, whether or not there is a window in this build."""
    place = Place()
    for arguments in (["gui", "--json"], ["--json", "gui"], ["gui", place.scenario(), "--json", "--screenshot", "picture.png"]):
        refused = watch(place, *arguments)
        check(refused.code == 2, "the exit code is not 2", refused)
        error = json.loads(refused.out)["error"]
        check((error["kind"], error["where"], error["exit_code"]) == ("bad_input", "--json", 2), f"{error}")
        check(error["what"] in refused.err.decode() and "--screenshot" in error["hint"], "stderr says something else", refused)
    check(not os.path.exists(place.path / "picture.png"), "there is a picture all the same")


main(globals())
