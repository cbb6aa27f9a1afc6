"""Every case of operators_equal_host, several processes of them side by side; where one ends by a signal its cases run again one by one, so that
a crash takes nothing from the others. argv: the program and its arguments."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

AT_A_TIME = 6
SKIP = 77


def run(names):
    """Exit code and output of these cases."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(f'"{name}"' for name in names) + "\n")
        file.flush()
        done = subprocess.run([*sys.argv[1:], "-f", file.name], capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout + done.stderr


def group(names):
    """Failed cases and what they said."""
    code, words = run(names)
    if code == 0:
        return []
    if code == SKIP:
        print(words.strip().splitlines()[-1], flush=True)
        os._exit(SKIP)
    if len(names) == 1:
        return [(names[0], code, words)]
    return [failure for name in names for failure in group([name])]


def main():
    listed = subprocess.run([*sys.argv[1:], "--list-test-names-only"], capture_output=True, text=True, check=False).stdout
    names = [line for line in listed.splitlines() if line.strip()]
    if not names:
        sys.exit("it lists no cases")
    began, failures = os.times().elapsed, []
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for found in pool.map(group, [names[first::4 * AT_A_TIME] for first in range(4 * AT_A_TIME)]):
            failures += found
            for name, code, words in found:
                print(f"FAILED  {name}: exit code {code}\n{words[-6000:]}", flush=True)
    print(f"{len(names) - len(failures)} of {len(names)} cases good in {os.times().elapsed - began:.0f} s")
    sys.exit(1 if failures else 0)


main()
