"""Two nodes on one machine: network namespaces joined by a pair of virtual interfaces, each with its own address."""
import os
import pathlib
import shutil
import subprocess
import sys

SKIP = 77
PREFIX = "sl"  # of everything made here


def _ip(*arguments, check=True):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done


class Nodes:
    """Context: the namespaces exist inside it and are gone after it, however it is left. Addresses and ports are private to the
    namespaces; their names carry the process, so that several tests can run at once."""

    ADDRESSES = ("10.83.0.1", "10.83.0.2")

    def __init__(self):
        self.names = [f"{PREFIX}{os.getpid()}n{node}" for node in range(2)]
        self.links = [f"{PREFIX}{os.getpid()}v{node}" for node in range(2)]

    def __enter__(self):
        try:
            self._make()
        except OSError:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def _make(self):
        for name in self.names:
            _ip("netns", "add", name)
        _ip("link", "add", self.links[0], "type", "veth", "peer", "name", self.links[1])
        for name, link, address in zip(self.names, self.links, self.ADDRESSES):
            _ip("link", "set", link, "netns", name)
            _ip("-n", name, "address", "add", f"{address}/30", "dev", link)
            _ip("-n", name, "link", "set", link, "up")
            _ip("-n", name, "link", "set", "lo", "up")

    def _remove(self):
        for name in self.names:
            _ip("netns", "delete", name, check=False)
        _ip("link", "delete", self.links[0], check=False)  # where it never reached its namespace

    def start(self, node, command, environment):
        return subprocess.Popen(["ip", "netns", "exec", self.names[node], *map(str, command)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environment)

    def sent_bytes(self, node):
        """Bytes that have left the node, as its interface counts them."""
        path = f"/sys/class/net/{self.links[node]}/statistics/tx_bytes"
        return int(subprocess.run(["ip", "netns", "exec", self.names[node], "cat", path], capture_output=True, text=True,
                                  check=True).stdout)


def _remove_leftovers():
    """Of processes that were killed in the middle: their names say which process made them."""
    listed = _ip("netns", "list", check=False).stdout.split()
    for name in listed:
        if not name.startswith(PREFIX) or "n" not in name[len(PREFIX):]:
            continue
        process = name[len(PREFIX):].split("n")[0]
        if process.isdigit() and not pathlib.Path(f"/proc/{process}").exists():
            _ip("netns", "delete", name, check=False)


def needed():
    """Ends the test as skipped, with the reason, where namespaces cannot be made."""
    if not shutil.which("ip"):
        reason = "there is no `ip` program"
    else:
        _remove_leftovers()
        try:
            with Nodes():
                return
        except OSError as error:
            reason = str(error)
    print(f"skipped: network namespaces are not allowed here: {reason}")
    sys.exit(SKIP)
