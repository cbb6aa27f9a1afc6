#!/usr/bin/env bash
# Tries what docs/installing.md promises in a bare Debian 12 that has no compiler and none of our libraries:
#
#   sudo tests/fresh/packages.sh debian       apt installs cpack's package of build/; a prediction, a picture of the window, apt removes it
#   sudo tests/fresh/packages.sh archive      cpack's archive is unpacked; a prediction, with --lend a real run
#   sudo tests/fresh/packages.sh pip          `pip install .` beside torch in a new environment, a real run
#   sudo tests/fresh/packages.sh dockerfile   every step of the Dockerfile, on Debian 12 instead of its base images; a real run
#   sudo tests/fresh/packages.sh apptainer    every step of shardlab.def likewise
#     --keep   leaves the root for looking at
#     --lend   this machine's torch (or the environment SHARDLAB_LEND_TORCH), CUDA's compiler and ccache are mounted into the root,
#              instead of 2.7 GB fetched and all compiled
#
# Needs root, debootstrap and the network as run.sh does; the first two need a built build/.
set -euo pipefail

source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
what=${1:-} keep= lend=
[ $# -eq 0 ] || shift
for option in "$@"; do
  case $option in
    --keep) keep=yes ;;
    --lend) lend=yes ;;
    *) echo "unknown option $option" >&2; exit 2 ;;
  esac
done
case $what in debian | archive | pip | dockerfile | apptainer) ;; *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
[ "$(id -u)" -eq 0 ] || { echo "needs root, for chroot" >&2; exit 3; }

work=$(mktemp -d "${TMPDIR:-/tmp}/shardlab-fresh-XXXXXX")
bare=$work/root
. "$source/tests/fresh/bare.sh"
. "$source/scripts/python_env.sh"
trap leave EXIT
torch_env=$(SHARDLAB_PYTHON='' python_env "$source/scripts")
tiny=share/shardlab/scenarios/first/tiny-llama.yaml
short='--set measure.steps=3 --set measure.warmup_steps=1'

# lend_folder <here> <there>: mounts a folder of this machine into the root.
lend_folder() {
  mkdir -p "$bare$2"
  mount --bind "$1" "$bare$2"
  mounted+=("$bare$2")
}

lend_torch() { lend_folder "${SHARDLAB_LEND_TORCH:-$torch_env}" "${1:-${SHARDLAB_LEND_TORCH:-$torch_env}}"; }

# lend_compilers <where ccache looks inside>
lend_compilers() {
  mkdir -p "${CCACHE_DIR:-/root/.cache/ccache}"
  lend_folder "${CCACHE_DIR:-/root/.cache/ccache}" "$1"
  if [ -d /usr/local/cuda ]; then lend_folder "$(readlink -f /usr/local/cuda)" /usr/local/cuda; fi
}

packed() {
  mkdir -p "$work/packed"
  cpack --config "$source/build/CPackConfig.cmake" -G "$1" -B "$work/packed" >"$work/cpack.log" || { cat "$work/cpack.log"; return 1; }
  mkdir -p "$bare$home"
  find "$work/packed" -maxdepth 1 -type f -exec cp {} "$bare$home" \;
}

try_debian() {
  packed DEB
  timed "apt install" "apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends ./*.deb"
  timed "prediction" "shardlab simulate /usr/$tiny | sed -n 1,5p"
  timed "picture of the window" "shardlab gui --screenshot window.png /usr/$tiny && ls -l window.png"
  timed "apt remove" "apt-get remove -qy shardlab && ! command -v shardlab && [ ! -e /usr/share/shardlab ]"
}

try_archive() {
  packed TGZ
  timed "unpacking" "mkdir -p '/srv/any place' && tar -xzf *.tar.gz -C '/srv/any place' --strip-components 1"
  timed "prediction" "'/srv/any place/bin/shardlab' simulate '/srv/any place/$tiny' | sed -n 1,5p"
  timed "libtorch is missed by name" "! '/srv/any place/bin/shardlab' run '/srv/any place/$tiny' $short"
  [ -n "$lend" ] || return 0
  lend_torch /srv/torch
  timed "real run" "SHARDLAB_TORCH_DIR=\$(echo /srv/torch/lib/python3*/site-packages/torch) \
    '/srv/any place/bin/shardlab' run '/srv/any place/$tiny' $short | sed -n 1,5p"
}

try_pip() {
  git clone --quiet --no-hardlinks "$source" "$bare$home"
  [ -z "$lend" ] || { lend_torch; lend_compilers /root/.cache/ccache; }
  timed "packages" '. scripts/report.sh && . scripts/packages.sh &&
    ensure_packages /tmp/packages.log "${build_packages[@]}" "${python_packages[@]}"'
  local lent=${SHARDLAB_LEND_TORCH:-$torch_env}
  timed "an environment with torch" "python3 -m venv /srv/venv && if [ -d $lent ]; then
    echo $lent/lib/python3*/site-packages >/srv/venv/lib/python3.11/site-packages/torch.pth
    else /srv/venv/bin/pip install -q torch==$torch_version; fi"
  # The compiler's usual name, under which ccache has what ./run.sh has compiled.
  timed "pip install ." "CXX=/usr/bin/c++ /srv/venv/bin/pip install . >pip.log 2>&1 || { grep -E -A 4 '(error|Error):? |FAILED' pip.log | head -n 40; exit 1; }
    tail -n 1 pip.log && /srv/venv/bin/shardlab --version"
  timed "real run" "cd / && rm -r $home && /srv/venv/bin/shardlab run /srv/venv/$tiny $short | sed -n 1,5p"
}

# An image file's steps, each stage in a root of its own, on the files that git does not ignore. Its base images are replaced by Debian 12.
try_image() {
  local kind from to settings=() entry
  mkdir "$work/context"
  (cd "$source" && git ls-files -coz --exclude-standard | tar --null --files-from - -c) | tar -x -C "$work/context"
  home=/
  while IFS=$'\t' read -r kind from to rest <&4; do
    case $kind in
      stage) new_stage "$from" ;;
      copy) copy_step "$from" "$to" "$rest" ;;
      run) timed "$from" "$from" "${settings[@]}" ;;
      env) settings+=("$from=${to//\$PATH//usr/bin:/bin}") ;;
      entry) entry=$from ;;
    esac
  done 4< <(python3 "$source/tests/fresh/image_steps.py" "$1")
  timed "prediction" "$entry simulate /opt/shardlab/$tiny | sed -n 1,5p" "${settings[@]}"
  timed "real run" "$entry run /opt/shardlab/$tiny $short | sed -n 1,5p" "${settings[@]}"
  timed "torchrun" "torchrun --no-python --nproc-per-node 2 $entry run /opt/shardlab/$tiny $short 2>&1 | sed -n 1,5p" "${settings[@]}"
}

new_stage() {
  bare=$work/stage-$1
  echo "=== stage $1"
  make_bare
  lend_network
  settings=()
  [ -z "$lend" ] || { lend_torch "/opt/shardlab/$(basename "$torch_env")"; lend_compilers /opt/ccache; }  # of XDG_CACHE_HOME
}

# copy_step <stage or -> <from> <to>; a lent torch is mounted in both stages and not copied.
copy_step() {
  local origin=$work/context
  [ "$1" = - ] || origin=$work/stage-$1
  mkdir -p "$bare/$3"
  tar -C "$origin/$2" ${lend:+--exclude=./py-*} -c . | tar -C "$bare/$3" -x
}

case $what in
  dockerfile) try_image "$source/Dockerfile" ;;
  apptainer) try_image "$source/shardlab.def" ;;
  *) make_bare; lend_network; try_$what ;;
esac
printf '\n'
printf '%s\n' "${lines[@]}"
