"""The doctor on machines: this one with faults made on purpose, those of a launcher's processes, and recorded ones."""
# processors: 1
import os
import resource
import shutil
import socket
import subprocess

from _shardlab import Place, PROGRAM, check, expect, expect_error, main

PORT = 29517
H100 = "index, uuid, name, memory.total [MiB], memory.used [MiB], compute_cap\n0, GPU-1, NVIDIA H100 80GB HBM3, 81559, 4, 9.0\n"
V100 = "index, uuid, name, memory.total [MiB], memory.used [MiB], compute_cap\n0, GPU-1, Tesla V100-SXM2-16GB, 16160, 4, 7.0\n"
JOB = "name: job\nmodel: {config: tiny-llama, sequence_length: 128}\ncluster: {gpu: v100-sxm2-16gb, nodes: 1, gpus_per_node: 1}\n"


def rules_of(done, codes=(0, 1)):
    check(done.code in codes, done)
    return {finding["rule"]: finding for finding in done.json()["findings"]}


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def test_this_machine_is_described():
    done = Place().run("doctor", "--machine", "--verbose")
    check(done.code in (0, 1) and socket.gethostname() in done.out, done)


def test_faults_of_the_environment_are_named():
    place = Place()
    found = rules_of(place.run("doctor", "--machine", "--json", env=place.environment(
        GLOO_SOCKET_IFNAME="nosuch0", NCCL_TIMEOUT="60", MASTER_ADDR="no-such-host.invalid", MASTER_PORT=str(PORT))), (1,))
    check({"network/wrong-interface", "environment/unknown-variables", "start/no-route"} <= set(found), found.keys())
    check("nosuch0" in found["network/wrong-interface"]["message"], found)


def test_a_taken_port_is_named():
    place = Place()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        found = rules_of(place.run("doctor", "--machine", "--json", env=place.environment(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)), (1,))
    check(port in found["start/port-in-use"]["message"], found)
    found = rules_of(place.run("doctor", "--machine", "--json", env=place.environment(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)))
    check("start/port-in-use" not in found, found)


def test_few_open_files_and_a_tiny_shared_memory_are_named():
    place = Place()

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))
    done = subprocess.run([PROGRAM, "doctor", "--machine", "--verbose"], capture_output=True, text=True, env=place.environment(), cwd=place.path,
                          preexec_fn=few)
    check("may open 512 files" in done.stdout, done)
    small = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=16m none /dev/shm && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*small, "true"], capture_output=True).returncode:
        print("this machine forbids mounts")
        return
    done = subprocess.run([*small, PROGRAM, "doctor", "--machine", "--json"], capture_output=True, text=True, env=place.environment(),
                          cwd=place.path)
    check("data/workers-bus-error" in done.stdout, done)


def ranks_of(place, changes, world=3, options=(), **more):
    """The outputs of `doctor --machine` in `world` processes, as torchrun would start them; `changes` by rank."""
    port = str(free_port())
    started = [place.start("doctor", "--machine", "--json", *options, env=place.environment(
        RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1", MASTER_PORT=port, **more,
        **changes.get(rank, {}))) for rank in range(world)]
    return [(*process.communicate(timeout=200), process.returncode) for process in started]


def test_ranks_are_compared_and_the_odd_one_is_named():
    place = Place()
    outputs = ranks_of(place, {2: {"NCCL_ALGO": "Ring"}, 0: {"NCCL_ALGO": "Tree"}, 1: {"NCCL_ALGO": "Tree"}})
    check([code for _, _, code in outputs] == [1, 1, 1], outputs)
    check(outputs[1][0] == "" and outputs[2][0] == "", outputs)
    check('"ranks": [2]' in outputs[0][0].replace("\n", "").replace("  ", "").replace("[ ", "[").replace(" ]", "]") and
          "NCCL_ALGO is Ring on rank 2" in outputs[0][0], outputs)
    check(not list(place.path.glob("shardlab*")), list(place.path.iterdir()))


def test_what_an_earlier_look_left_is_not_read():
    place = Place()
    old = place.path / "seen/rank_00002"
    old.mkdir(parents=True)
    (old / "hostname").write_text("gone\n")
    (old / "environment").write_text("RANK=2\nNCCL_TIMEOUT=60\n")
    outputs = ranks_of(place, {}, world=2, options=("--record", "seen"))
    check("gone" not in outputs[0][0] and "NCCL_TIMEOUT" not in outputs[0][0], outputs)
    check((place.path / "seen/rank_00001/hostname").exists(), outputs)


def test_ranks_that_are_alike_are_well():
    outputs = ranks_of(Place(), {}, world=2)
    check("effective-differs" not in outputs[0][0] and outputs[0][2] == outputs[1][2], outputs)


def test_under_torchrun_the_head_is_reached():
    if not os.environ.get("SHARDLAB_PYTHON"):
        return
    place = Place()
    done = subprocess.run([os.environ["SHARDLAB_PYTHON"], "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--no-python",
                           PROGRAM, "doctor", "--machine", "--record", "seen", "--json"], capture_output=True, text=True, timeout=200,
                          env=place.environment(OMP_NUM_THREADS="1"), cwd=place.path)
    check(done.returncode == 0 and '"findings": []' in done.stdout, done)
    for rank in (0, 1):
        check((place.path / f"seen/rank_{rank:05}/head").read_text().endswith(" connected\n"), done)


def test_records_are_read_elsewhere():
    place = Place()
    done = place.run("doctor", "--machine", "--record", "seen")
    again = place.run("doctor", "--from", "seen")
    check(again.code == done.code and again.out == done.out.replace("this machine", "seen"), f"{done}\n{again}")
    expect_error(place.run("doctor", "--from", "nowhere"), 2, "is no folder")
    (place.path / "empty").mkdir()
    expect_error(place.run("doctor", "--from", "empty"), 2, "holds no record of a machine")
    expect_error(place.run("doctor", "--record", "seen"), 2, "--machine")
    expect_error(place.run("doctor", "--machine", "--from", "seen"), 2, "--from")
    expect_error(place.run("doctor", place.scenario(), "--fix", "-o", "x.yaml", "--machine"), 2, "--fix")


def recorded(place, name, **texts):
    folder = place.path / name
    folder.mkdir()
    for file, text in {"hostname": name + "\n", **texts}.items():
        (folder / file.replace("_csv", ".csv")).write_text(text)
    return name


def test_a_scenario_and_its_machine_are_one_case():
    place = Place()
    job = place.scenario(text=JOB + "precision: {param: bfloat16}\nparallel: {strategy: fsdp2}\n")
    old = recorded(place, "old", gpus_csv=V100, packages="torch==2.5.1+cu121\n")
    found = rules_of(place.run("doctor", job, "--from", old, "--json"), (1,))
    check("Tesla V100" in str(found["precision/no-bfloat16"]["evidence"]) + found["precision/no-bfloat16"]["message"], found)
    check("torch 2.5.1+cu121" in found["versions/function-not-found"]["message"], found)
    new = recorded(place, "new", gpus_csv=H100, packages="torch==2.11.0+cu130\n")
    found = rules_of(place.run("doctor", job, "--from", new, "--json"))
    check("versions/function-not-found" not in found, found)
    check("H100" in found["configuration/effective-differs"]["message"], found)  # the scenario says V100
    check("start/fewer-devices" not in found, found)
    two = place.scenario("two", text=JOB.replace("gpus_per_node: 1", "gpus_per_node: 2") + "parallel: {strategy: ddp}\n")
    found = rules_of(place.run("doctor", two, "--from", old, "--json"), (1,))
    check("2 ranks a node, and old has 1 GPU" in found["start/fewer-devices"]["message"], found)
    check("configuration/effective-differs" not in found, found)


main(globals())
