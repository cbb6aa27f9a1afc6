# shellcheck shell=bash
# The Python environment of the tests against Hugging Face's transformers: a small one of its own, which borrows torch and numpy from
# the one with libtorch. Nothing but these tests needs it: without it they are skipped.

# Sets SHARDLAB_TRANSFORMERS to an interpreter that has transformers, making the environment when there is none. Needs
# SHARDLAB_PYTHON. Returns 1, having said why, where that is not possible.
ensure_peers_env() {
  local requirements=$1 log=$2 cache env
  [ -n "${SHARDLAB_PYTHON:-}" ] || { no_transformers "there is no libtorch"; return 1; }
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardlab
  env=$cache/peers-$( (cat "$requirements" "$(dirname "$requirements")"/requirements-{deepspeed,transformers4}.txt; echo "$SHARDLAB_PYTHON") |
    sha256sum | cut -c 1-16)
  if [ ! -f "$env/.complete" ]; then
    mkdir -p "$cache" || { no_transformers "cannot write to $cache"; return 1; }
    exec 8>"$env.lock"  # two scripts may start at once
    flock 8
    [ -f "$env/.complete" ] || make_peers_env "$env" "$requirements" "$log"
    exec 8>&-
  fi
  [ -f "$env/.complete" ] || return 1
  SHARDLAB_TRANSFORMERS=$env/bin/python3
  export SHARDLAB_TRANSFORMERS
}

no_transformers() { say "No transformers: $1. The tests against it are skipped."; }

make_peers_env() {
  local env=$1 requirements=$2 log=$3
  rm -rf "$env" "$env.tmp"
  mkdir -p "$env.tmp"
  if step "transformers (85 MB, once for all checkouts)" "$log" fill_peers_env "$env" "$requirements"; then
    step "DeepSpeed (10 MB, once for all checkouts)" "$log" \
      fill_deepspeed "$env" "$(dirname "$requirements")/requirements-deepspeed.txt" ||
      say "No DeepSpeed (see $log). The tests against it are skipped."
    step "transformers 4.57 (20 MB, once for all checkouts)" "$log" \
      fill_transformers_4 "$env" "$(dirname "$requirements")/requirements-transformers4.txt" ||
      say "No transformers 4.57 (see $log). The tests against it are skipped."
    touch "$env/.complete"
  else
    no_transformers "the environment could not be made (see $log)"
  fi
  rm -rf "$env.tmp"
  [ -f "$env/.complete" ] || { rm -rf "$env"; return 1; }
}

# The packages of the other environment are found through a .pth file.
fill_peers_env() {
  local env=$1 requirements=$2 borrowed own
  borrowed=$("$SHARDLAB_PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])') || return
  "$SHARDLAB_PYTHON" -m venv "$env" || return
  own=$("$env/bin/python3" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])') || return
  echo "$borrowed" >"$own/libtorch.pth"
  env -u PYTHONPATH -u PYTHONHOME PYTHONNOUSERSITE=1 TMPDIR="$env.tmp" "$env/bin/python3" -m pip install \
    --no-cache-dir --disable-pip-version-check --retries 3 --progress-bar off --no-compile --no-deps \
    --only-binary :all: --require-hashes -r "$requirements" || return
  HF_HUB_OFFLINE=1 "$env/bin/python3" -c 'import torch, transformers; print(transformers.__version__)'
}

# Its operators are compiled where they are used; none of those that the tests use is.
fill_deepspeed() {
  env -u PYTHONPATH -u PYTHONHOME PYTHONNOUSERSITE=1 TMPDIR="$1.tmp" DS_BUILD_OPS=0 DS_ACCELERATOR=cpu "$1/bin/python3" -m pip install \
    --no-cache-dir --disable-pip-version-check --retries 3 --progress-bar off --no-compile --no-deps --require-hashes -r "$2" || return
  DS_ACCELERATOR=cpu "$1/bin/python3" -c 'import deepspeed; print(deepspeed.__version__)'
}

# Its own versions of transformers and of what belongs to it, in a folder that only those put before the others who ask for it.
fill_transformers_4() {
  env -u PYTHONPATH -u PYTHONHOME PYTHONNOUSERSITE=1 TMPDIR="$1.tmp" "$1/bin/python3" -m pip install \
    --no-cache-dir --disable-pip-version-check --retries 3 --progress-bar off --no-compile --no-deps \
    --only-binary :all: --require-hashes --target "$1/transformers-4" -r "$2" || return
  PYTHONPATH="$1/transformers-4" HF_HUB_OFFLINE=1 "$1/bin/python3" -c 'import transformers, accelerate; print(transformers.__version__)'
}
