# shellcheck shell=bash
# The private Python environment with the libtorch wheel: shared by all checkouts that pin the same versions.

torch_version=2.11.0
needed_gigabytes=9  # 4.7 installed, and the wheels while they unpack

# Sets SHARDLAB_PYTHON to an interpreter that has torch, making the environment when there is none. Returns 1, having
# said why, where that is not possible. An interpreter given in SHARDLAB_PYTHON is taken if it has the right torch.
ensure_python_env() {
  local requirements=$1 log=$2
  if [ -n "${SHARDLAB_PYTHON:-}" ]; then
    has_torch "$SHARDLAB_PYTHON" && return 0
    say "SHARDLAB_PYTHON=$SHARDLAB_PYTHON has no torch $torch_version; using an environment of our own."
  fi
  local python=/usr/bin/python3 version cache env
  [ -x "$python" ] || python=$(command -v python3) || { no_torch "there is no python3"; return 1; }
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardlab
  env=$cache/py-$( (cat "$requirements"; echo "$version") | sha256sum | cut -c 1-16)
  if [ ! -f "$env/.complete" ]; then
    platform_has_wheels "$version" || return 1
    mkdir -p "$cache" || { no_torch "cannot write to $cache"; return 1; }
    # Two scripts may start at once: the second waits, and finds the stamp that is written last.
    exec 8>"$env.lock"
    flock 8
    [ -f "$env/.complete" ] || make_python_env "$python" "$env" "$requirements" "$log"
    exec 8>&-
  fi
  [ -f "$env/.complete" ] || return 1
  SHARDLAB_PYTHON=$env/bin/python3
  export SHARDLAB_PYTHON
}

no_torch() { say "No libtorch: $1. Building without it: plans and simulation work, real runs do not."; }

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

# A virtual environment cannot be moved, so it is made in place, and counts only once the stamp is there.
make_python_env() {
  local python=$1 env=$2 requirements=$3 log=$4 free
  free=$(df -Pk "$(dirname "$env")" | awk 'NR == 2 { print int($4 / 1048576) }')
  if [ "$free" -lt "$needed_gigabytes" ]; then
    no_torch "$needed_gigabytes GiB of disk are needed in $(dirname "$env"), $free are free"
    return 1
  fi
  rm -rf "$env" "$env.tmp"
  mkdir -p "$env.tmp"  # pip unpacks there: /tmp may be small
  if step "libtorch $torch_version (2.7 GB, once for all checkouts)" "$log" \
      fill_python_env "$python" "$env" "$requirements"; then
    touch "$env/.complete"
  else
    no_torch "the environment could not be made (see $log)"
  fi
  rm -rf "$env.tmp"
  [ -f "$env/.complete" ] || { rm -rf "$env"; return 1; }
}

fill_python_env() {
  local python=$1 env=$2 requirements=$3
  "$python" -m venv "$env" || return
  env -u PYTHONPATH -u PYTHONHOME PYTHONNOUSERSITE=1 TMPDIR="$env.tmp" "$env/bin/python3" -m pip install \
    --no-cache-dir --disable-pip-version-check --retries 3 --progress-bar off --no-compile \
    --only-binary :all: --require-hashes -r "$requirements" || return
  has_torch "$env/bin/python3" && "$env/bin/python3" -c 'import torch, numpy; print(torch.__version__)'
}
