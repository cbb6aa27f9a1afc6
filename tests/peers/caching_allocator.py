"""Our model of torch's CUDA caching allocator beside torch's own, run over a stand-in for the CUDA runtime: after every call of 10,000 seeded
sequences under 30 texts of options all statistics and the place of every block are equal. Texts that torch refuses are refused."""
# processors: 1
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path(os.environ["SHARDLAB_BUILD"]) / "stand_in/allocator_peer"
SEQUENCES = 10_000
A_PROCESS = 100  # as many devices as the stand-in has: torch makes one allocator a device

LISTS = ["[1:4,2:2,>:8]", "[256:1,512:2,1024:4,>:8]", "[64:16]"]
OPTIONS = [
    "",
    *(f"max_split_size_mb:{n}" for n in (20, 21, 32, 64, 200, 100000)),
    "max_split_size_mb:32,max_non_split_rounding_mb:20",
    "max_split_size_mb:24,max_non_split_rounding_mb:64",
    *(f"large_segment_size_mb:{n}" for n in (11, 24, 64)),
    "large_segment_size_mb:32,max_split_size_mb:40",
    *(f"roundup_power2_divisions:{n}" for n in (1, 2, 8, 64, *LISTS)),
    "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9",
    "garbage_collection_threshold:0.2,per_process_memory_fraction:0.5",
    "garbage_collection_threshold:0.5,per_process_memory_fraction:0.8,max_split_size_mb:48",
    "garbage_collection_threshold:0.5",
    "per_process_memory_fraction:0.7",
    "expandable_segments:True",
    "expandable_segments:True,large_segment_size_mb:48",
    "expandable_segments:True,per_process_memory_fraction:0.6",
    "expandable_segments:True,max_split_size_mb:32,roundup_power2_divisions:4",
    "expandable_segments:True,garbage_collection_threshold:0.3,per_process_memory_fraction:0.9",
    "expandable_segments:False , roundup_power2_divisions:[ 1:2, 16:8 ]",
]

# Texts that torch refuses, and some that it takes. Not here: what torch takes by mistake, because it does not look at what stands
# between a name and its value, and reads numbers up to the first letter.
TEXTS = """
max_split_size_mb:19
max_split_size_mb:20
max_split_size_mb:x
max_split_size_mb:
max_split_size_mb
large_segment_size_mb:10
large_segment_size_mb:11
large_segment_size_mb:11,max_split_size_mb:11
max_split_size_mb:11,large_segment_size_mb:11
large_segment_size_mb:64,max_split_size_mb:63
large_segment_size_mb:64,max_non_split_rounding_mb:63
max_non_split_rounding_mb:19
max_non_split_rounding_mb:20
garbage_collection_threshold:0
garbage_collection_threshold:1.0
garbage_collection_threshold:0.999
garbage_collection_threshold:high
per_process_memory_fraction:1.1
per_process_memory_fraction:0
per_process_memory_fraction:1.0
per_process_memory_fraction:-0.5
roundup_power2_divisions:3
roundup_power2_divisions:0
roundup_power2_divisions:4
roundup_power2_divisions:[256:3]
roundup_power2_divisions:[255:4]
roundup_power2_divisions:[256:0,>:2]
roundup_power2_divisions:[256:4,>:2
roundup_power2_divisions:[]
roundup_power2_divisions:[>:4]
expandable_segments:true
expandable_segments:1
expandable_segments:True
backend:native
backend:other
max_split_size:40
max_split_size_mb:40,nonsense:1
,
max_split_size_mb:40,
"""


def run(options, *arguments, **keywords):
    return subprocess.run([PROGRAM, *map(str, arguments)], env={**os.environ, "PYTORCH_ALLOC_CONF": options},
                          capture_output=True, text=True, **keywords)


def compare_sequences():
    """Every seed once, the texts of options in turn."""
    share = -(-SEQUENCES // len(OPTIONS))
    jobs = [(text, 1 + at * share + first, min(A_PROCESS, share - first))
            for at, text in enumerate(OPTIONS) for first in range(0, share, A_PROCESS)]
    totals = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for job, result in zip(jobs, pool.map(lambda job: run(*job), jobs)):
            if result.returncode != 0:
                sys.exit(f"{job[0]!r}, seeds from {job[1]}: {result.stdout}{result.stderr}"[-20000:])
            for number, what in re.findall(r"(\d+) ([a-z ]+)", result.stdout):
                totals[what] = totals.get(what, 0) + int(number)
    print(f"{len(OPTIONS)} texts of options:", ", ".join(f"{n:,} {what}" for what, n in totals.items()))
    # A sequence in which nothing ever fails shows little.
    for what in ("retries", "out of memory", "segments released"):
        assert totals[what] > SEQUENCES, f"only {totals[what]} {what}"


def mistakes_are_found():
    for mistake in ("segment", "rounding", "order"):
        result = run("", 1, A_PROCESS, "--wrong", mistake)
        found = re.search(r"^seed (\d+), .*: call (\d+) differs$", result.stdout, re.MULTILINE)
        assert result.returncode == 1 and found, f"a model with a wrong {mistake} passes: {result.stdout}"
        assert re.search(r"^  [\w.]+: torch -?\d+, model -?\d+$", result.stdout, re.MULTILINE), result.stdout
        print(f"a wrong {mistake} is found: seed {found[1]}, call {found[2]}")


def same_texts_are_refused():
    result = run("", "--options", input=TEXTS.strip("\n") + "\n")
    print(result.stdout.strip())
    assert result.returncode == 0, result.stderr


if not PROGRAM.exists():
    print("skipped: built only with torch's CUDA wheel")
    sys.exit(77)
same_texts_are_refused()
mistakes_are_found()
compare_sequences()
