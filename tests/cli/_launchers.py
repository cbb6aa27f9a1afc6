"""What tests of launched processes share: torchrun itself, and Slurm's variables as srun sets them."""

import os
import pathlib
import socket
import subprocess

from _shardlab import PROGRAM

# The part of srun that these tests need: N processes with Slurm's variables; it ends with the highest of their codes.
SRUN = r"""#!/bin/bash
tasks=${SLURM_NTASKS:-1}
while [ $# -gt 0 ]; do
  case "$1" in
    -n | --ntasks) tasks=$2; shift 2 ;;
    -n*) tasks=${1#-n}; shift ;;
    --ntasks=*) tasks=${1#*=}; shift ;;
    -*) shift ;;
    *) break ;;
  esac
done
export SLURM_JOB_ID=${SLURM_JOB_ID:-$$} SLURM_STEP_ID=0 SLURM_NTASKS=$tasks SLURM_STEP_NODELIST=localhost SLURM_LAUNCH_NODE_IPADDR=127.0.0.1
for ((i = 0; i < tasks; i++)); do
  SLURM_PROCID=$i SLURM_LOCALID=$i "$@" &
  children+=($!)
done
worst=0
for child in "${children[@]}"; do
  wait "$child"
  code=$?
  [ $code -gt $worst ] && worst=$code
done
exit $worst
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def torchrun(place, ranks, *arguments, timeout=600):
    """torchrun --nproc-per-node RANKS shardlab ARGUMENTS, with torchrun's own meeting point."""
    command = [pathlib.Path(os.environ["SHARDLAB_PYTHON"]), "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", str(ranks),
               "--master-port", str(free_port()), PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=place.environment(), cwd=place.path, check=False)


def put_srun(place):
    """Writes the stand-in for srun; the folder to put in front of PATH."""
    folder = place.path / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "srun"
    program.write_text(SRUN)
    program.chmod(0o755)
    return folder


def srun(place, ranks, *arguments, timeout=600):
    return subprocess.run([put_srun(place) / "srun", f"-n{ranks}", PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, env=place.environment(SLURM_JOB_ID=str(free_port())), cwd=place.path, check=False)


def slurm_rank(place, rank, ranks, job, *arguments):
    """One task of srun, started by the test itself."""
    variables = {"SLURM_PROCID": rank, "SLURM_NTASKS": ranks, "SLURM_LOCALID": rank, "SLURM_JOB_ID": job, "SLURM_STEP_ID": 0,
                 "SLURM_STEP_NODELIST": "localhost", "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1"}
    return place.start(*arguments, env=place.environment(**{name: str(value) for name, value in variables.items()}))
