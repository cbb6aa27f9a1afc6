"""What the lessons of the course train, trained for real: it holds what they say of it."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _shardlab import Place, check, expect, main, needs_torch  # noqa: E402  (its folder is on the path only now)


def test_every_run_holds():
    result = expect(Place().run("lesson", "--check", "--real", timeout=800), 0)
    print(f"  {result.out.splitlines()[-1]}")
    check("trained: all good" in result.out, "not all runs hold", result)


if __name__ == "__main__":
    needs_torch()
    main(globals())
