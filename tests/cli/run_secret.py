"""Strangers at the ports of a run that goes on, and ranks that come with another secret than rank 0's."""
# processors: 1

import glob
import os
import socket
import subprocess
import time

from _processes import ranks_of, wait_until
from _shardlab import Place, check, expect, main, needs_torch

needs_torch()

STEPS = 800  # longer than all visits take

# What a client of c10d's own store would do to the keys of a run that used it.
TCP_STORE = """
import datetime, torch.distributed as d
print("ready", flush=True)
port = int(input())
try:
    store = d.TCPStore("127.0.0.1", port, is_master=False, timeout=datetime.timedelta(seconds=1))
    for rank in range(2):
        store.set(f"/shardlab/arrived/{rank}", "1")
        store.delete_key(f"/values/peers/beat/{rank}")
    store.set("/values/peers/failure", "a stranger was here")
    store.add("init/", 5)
    print("let in:", store.num_keys())
except Exception as error:
    print("kept out:", type(error).__name__)
"""


def listening_ports(pids):
    """Ports on which these processes listen."""
    sockets, ports = set(), set()
    for descriptor in (path for pid in pids for path in glob.glob(f"/proc/{pid}/fd/*")):
        try:
            sockets.add(os.readlink(descriptor).removeprefix("socket:[").rstrip("]"))
        except OSError:
            continue
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{table}", encoding="ascii").readlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def meeting_word(running):
    """Port and secret of the run's meeting, as rank 0 wrote them into the run's folder; the file."""
    found = []

    def look():
        for rank in ranks_of(running.pid):
            try:
                job = open(f"/proc/{rank}/cmdline", encoding="utf-8").read().split("\0")[2]
                file = os.path.join(os.path.dirname(job), "meeting")
                port, secret = open(file, encoding="ascii").read().split()
            except (OSError, ValueError, IndexError):
                continue
            found.append((int(port), secret, file))
            return True
        return False

    check(wait_until(look, 60), "rank 0 leaves no word")
    return found[0]


def visit(port, said):
    """Connections that stay open, each having said that."""
    connections = []
    for _ in range(20):
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
        connection.sendall(said)
        connections.append(connection)
    return connections


class TcpStoreClient:
    """Loads torch first, so that it can be quick when there is a port."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ["SHARDLAB_PYTHON"], "-c", TCP_STORE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        check(self.process.stdout.readline() == "ready\n", "no torch")

    def visit(self, port):
        return self.process.communicate(f"{port}\n", timeout=60)[0]


def test_strangers_neither_end_nor_delay_a_run():
    place = Place()
    scenario = place.scenario(steps=STEPS)
    begin = time.monotonic()
    alone = expect(place.run("run", scenario, "--json"), 0).json()
    usual = time.monotonic() - begin
    client = TcpStoreClient()
    begin = time.monotonic()
    running = place.start("run", scenario, "--json")
    port, secret, _ = meeting_word(running)
    kept = visit(port, b"") + visit(port, b"GET / HTTP/1.1\r\n\r\n") + visit(port, os.urandom(4096)) + visit(port, b"shardlab")
    answer = client.visit(port)
    for other in listening_ports(ranks_of(running.pid)) - {port}:
        kept += visit(other, b"") + visit(other, os.urandom(4096))
    check(running.poll() is None, "the run was over before all had come")
    out, err = running.communicate(timeout=120)
    took = time.monotonic() - begin
    check(running.returncode == 0, f"code {running.returncode}: {err}")
    check(answer.startswith("kept out"), answer)
    check(took < 3 * usual + 15, f"{took} s instead of {usual} s")
    check(expect(place.run("show", "last", "--json"), 0).json()["losses"] == alone["losses"], "other losses")
    check(secret not in out and secret not in err, "the run prints its secret")
    for connection in kept:
        connection.close()


def test_the_secret_is_in_one_file_alone():
    place = Place()
    kept = place.path / "kept"
    running = place.start("run", place.scenario(steps=2000), "--keep-spool", str(kept))
    _, secret, file = meeting_word(running)
    check(os.stat(file).st_mode & 0o777 == 0o600, f"{oct(os.stat(file).st_mode)}")
    for pid in [running.pid, *ranks_of(running.pid)]:
        for told in ("cmdline", "environ"):
            check(secret.encode() not in open(f"/proc/{pid}/{told}", "rb").read(), f"in {told} of process {pid}")
    time.sleep(1)
    running.terminate()
    running.communicate(timeout=60)
    expect(place.run("run", place.scenario(), "--keep-spool", kept), 0)
    found = [path for path in place.path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    check(found == [] and not (kept / "meeting").exists(), f"the secret outlives its run in {found}")


def test_the_folder_of_a_run_is_private():
    place = Place()
    running = place.start("run", place.scenario(steps=2000))
    _, _, file = meeting_word(running)
    folder = os.path.dirname(file)
    check(os.stat(folder).st_mode & 0o777 == 0o700, f"{folder}: {oct(os.stat(folder).st_mode)}")
    running.terminate()
    running.communicate(timeout=60)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def rank_of_two(place, rank, port, secret, *arguments):
    variables = {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                 "SHARDLAB_RUN_SECRET": secret}
    return place.start("run", *arguments, env=place.environment(**{name: str(value) for name, value in variables.items()}))


def two_ranks(place, secrets, *arguments):
    """A `run` a secret, as rank 0 and 1 of another launcher; empty: none is set. Codes and what they said."""
    port = free_port()
    ranks = [rank_of_two(place, rank, port, secret, *arguments) for rank, secret in enumerate(secrets)]
    said = [rank.communicate(timeout=120) for rank in ranks]
    return [rank.returncode for rank in ranks], [out + err for out, err in said]


def test_ranks_with_the_same_secret_meet():
    place = Place()
    codes, said = two_ranks(place, ["the-same-for-both", "the-same-for-both"], place.scenario())
    check(codes == [0, 0], f"{codes}: {said}")
    check(not any("the-same-for-both" in text for text in said), f"{said}")
    check(b"the-same-for-both" not in place.db.read_bytes(), "the secret is stored")


def test_ranks_with_other_secrets_are_told():
    for secrets in (["one-secret-of-two", "other-secret-of-two"], ["one-secret-of-two", ""], ["", "other-secret-of-two"]):
        place = Place()
        begin = time.monotonic()
        codes, said = two_ranks(place, secrets, place.scenario(extra="launch: {timeout: 6s}\n"))
        check(codes == [4, 4], f"{codes}: {said}")
        check("rank 1 of 2 did not arrive within 6 s" in said[0], f"{said[0]}")
        check("another secret" in said[1] and "SHARDLAB_RUN_SECRET" in said[1], f"{said[1]}")
        check(not any(secret and secret in text for secret in secrets for text in said), f"{said}")
        check(time.monotonic() - begin < 40, f"{time.monotonic() - begin} s")


def test_a_secret_that_is_none_is_refused():
    place = Place()
    codes, said = two_ranks(place, ["short", "short"], place.scenario())
    check(all(code != 0 for code in codes) and all("SHARDLAB_RUN_SECRET" in text for text in said), f"{codes}: {said}")


def test_a_rank_that_is_refused_leaves_the_folder_of_the_others():
    place, port = Place(), free_port()
    folder = place.path / f"shardlab-spool-127.0.0.1-{port}"
    folder.mkdir(mode=0o700)
    (folder / "job-0.json").write_text("{}")
    rank = rank_of_two(place, 1, port, "short", place.scenario())
    _, err = rank.communicate(timeout=60)
    check(rank.returncode == 2 and "SHARDLAB_RUN_SECRET" in err, f"{rank.returncode}: {err}")
    check((folder / "job-0.json").exists(), "what rank 0 wrote is gone")


main(globals())
