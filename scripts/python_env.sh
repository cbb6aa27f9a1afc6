# shellcheck shell=bash
# The private Python environment with torch's wheel, shared by all checkouts that pin the same versions. It has two levels: libtorch,
# which real runs on processors need (0.55 GB), and the whole Python package with CUDA's libraries (2.1 GB more), which GPUs and the
# tests against Python's own PyTorch need. The second is installed over the first.

torch_version=2.11.0

# Sets SHARDLAB_PYTHON to the interpreter of an environment that has the level ("libtorch" or "python"), making it when there is none.
# <requirements folder> holds requirements-libtorch.txt and requirements.txt. Returns 1, having said why, where that is not possible.
# An interpreter given in SHARDLAB_PYTHON is taken if it has the right torch.
ensure_python_env() {
  local level=$1 requirements=$2 log=$3
  if [ -n "${SHARDLAB_PYTHON:-}" ]; then
    has_torch "$SHARDLAB_PYTHON" && { [ "$level" = libtorch ] || imports_torch "$SHARDLAB_PYTHON"; } && return 0
    [ "${SHARDLAB_PYTHON%/bin/python3}" = "$(python_env "$requirements")" ] ||
      say "SHARDLAB_PYTHON=$SHARDLAB_PYTHON has no torch $torch_version; using an environment of our own."
  fi
  local env
  env=$(python_env "$requirements") || { no_torch "there is no python3"; return 1; }
  if [ ! -f "$env/.has-$level" ]; then
    platform_has_wheels "$("$(system_python)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" || return 1
    mkdir -p "$(dirname "$env")" || { no_torch "cannot write to $(dirname "$env")"; return 1; }
    # Two scripts may start at once: the second waits, and finds the stamp that is written last.
    exec 8>"$env.lock"
    flock 8
    [ -f "$env/.has-libtorch" ] || make_libtorch_env "$env" "$requirements" "$log"
    [ "$level" = libtorch ] || [ ! -f "$env/.has-libtorch" ] || [ -f "$env/.has-python" ] || add_python_torch "$env" "$requirements" "$log"
    exec 8>&-
  fi
  [ -f "$env/.has-$level" ] || return 1
  SHARDLAB_PYTHON=$env/bin/python3
  export SHARDLAB_PYTHON
}

system_python() { if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi; }

# The environment's folder: its name says what it holds, for which Python.
python_env() {
  local python
  python=$(system_python) || return
  echo "${XDG_CACHE_HOME:-$HOME/.cache}/shardlab/py-$( (cat "$1/requirements-libtorch.txt" "$1/requirements.txt"
    "$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') | sha256sum | cut -c 1-16)"
}

no_torch() { say "No libtorch: $1. Going on without it: plans and simulation work, real runs do not."; }

has_torch() {
  "$1" -c "import importlib.metadata as m, sys; sys.exit(m.version('torch').split('+')[0] != '$torch_version')" \
    2>/dev/null
}

platform_has_wheels() {
  [ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || { no_torch "the pinned wheels are for Linux on x86_64"; return 1; }
  case $1 in
    3.11 | 3.12 | 3.13) ;;
    *) no_torch "the pinned wheels are for Python 3.11 to 3.13, this is $1"; return 1 ;;
  esac
}

imports_torch() { "$1" -c 'import torch' 2>/dev/null; }

enough_disk() {
  local folder=$1 needed=$2 free
  free=$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1048576) }')
  [ "$free" -ge "$needed" ] && return
  no_torch "$needed GiB of disk are needed in $folder, $free are free"
  return 1
}

# A virtual environment cannot be moved, so it is made in place, and counts only once the stamp is there.
make_libtorch_env() {
  local env=$1 requirements=$2 log=$3
  enough_disk "$(dirname "$env")" 3 || return
  rm -rf "$env"
  mkdir -p "$env.tmp"
  if step "libtorch $torch_version (0.55 GB, once for all checkouts)" "$log" \
      fill_libtorch_env "$env" "$requirements/requirements-libtorch.txt"; then
    touch "$env/.has-libtorch"
  else
    no_torch "the environment could not be made (see $log)"
    rm -rf "$env"
  fi
  rm -rf "$env.tmp"
}

fill_libtorch_env() {
  local env=$1
  "$(system_python)" -m venv "$env" || return
  into_env "$env" --no-deps -r "$2" || return
  has_torch "$env/bin/python3" || return
  ! ldd "$env"/lib/python3*/site-packages/torch/lib/libtorch_cpu.so | grep 'not found'
}

# What is there stays usable if this fails.
add_python_torch() {
  local env=$1 requirements=$2 log=$3
  enough_disk "$(dirname "$env")" 7 || return
  mkdir -p "$env.tmp"
  if step "PyTorch $torch_version with CUDA's libraries (2.1 GB, once for all checkouts)" "$log" \
      fill_python_torch "$env" "$requirements/requirements.txt"; then
    touch "$env/.has-python"
  else
    no_torch "the environment could not be completed (see $log)"
  fi
  rm -rf "$env.tmp"
}

fill_python_torch() {
  into_env "$1" -r "$2" && "$1/bin/python3" -c 'import torch, numpy; print(torch.__version__)'
}

# into_env <env> <pip option>...: pip unpacks beside the environment, because /tmp may be small.
into_env() {
  local env=$1
  shift
  env -u PYTHONPATH -u PYTHONHOME PYTHONNOUSERSITE=1 TMPDIR="$env.tmp" "$env/bin/python3" -m pip install \
    --no-cache-dir --disable-pip-version-check --retries 3 --progress-bar off --no-compile \
    --only-binary :all: --require-hashes "$@"
}
