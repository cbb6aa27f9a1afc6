#!/usr/bin/env bash
# Installs what is missing, builds what the command needs, and runs shardlab with the arguments given; without any it runs the first
# scenario for real and simulated and compares the two. Plans and predictions need neither libtorch nor the window: both come with the
# first command that does. Builds again only when a source changed. In the environment: SHARDLAB_WITH_TORCH=OFF goes without libtorch,
# SHARDLAB_WITH_CUDA=ON builds the programs for GPUs where there is none. Exit code: the program's; 3 when it could not be built.
set -uo pipefail
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$root/build

# The command among the arguments: the first word that is neither an option nor the value of a common one.
command_of() {
  while [ $# -gt 0 ]; do
    case $1 in
      --db | --set | --progress) shift ;;
      -*) ;;
      *) echo "$1"; return ;;
    esac
    shift
  done
}

# parts_of COMMAND ARGUMENT...: the parts that a command needs: predict (the command line), real (libtorch), window.
parts_of() {
  case $1 in
    run | validate | calibrate | bench) echo predict real ;;
    lesson) [[ " $* " == *" --real "* ]] && echo predict real || echo predict ;;
    gui) echo predict window ;;
    *) echo predict ;;
  esac
}

# Nothing to do: the part's stamp is younger than every source and folder of sources, and libtorch is where it was.
is_current() {
  local part=$1 torch
  [ -f "$build/.has-$part" ] || return 1
  torch=$(<"$build/.has-$part")
  [ -z "$torch" ] || [ -e "$torch" ] || return 1
  [ "${SHARDLAB_WITH_TORCH:-AUTO}" = OFF ] && [ -n "$torch" ] && return 1
  [ -z "$(find "$root/engine" "$root/simulator" "$root/gui" "$root/cmake" "$root/scripts" "$root/CMakeLists.txt" \
    -newer "$build/.has-$part" -print -quit)" ]
}

all_current() {
  local part
  for part in "${parts[@]}"; do is_current "$part" || return 1; done
}

wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }

prepare() {
  . "$root/scripts/report.sh"
  . "$root/scripts/packages.sh"
  . "$root/scripts/python_env.sh"
  . "$root/scripts/build.sh"
  mkdir -p "$build" && exec 9>"$build/.lock" && flock 9 || return
  all_current && return 0  # another run.sh built it meanwhile
  say "Preparing shardlab in $build"
  local packages=("${build_packages[@]}") options targets=(shardlab) level=libtorch
  wants real && packages+=("${python_packages[@]}")
  wants window && packages+=("${python_packages[@]}" "${window_packages[@]}")
  ensure_packages "$build/packages.log" "${packages[@]}"
  : >"$build/.has.new"  # dated before the build: what is edited meanwhile is younger
  options=$(first_options "$build")
  if wants real; then
    wants_cuda && level=python options+=" -DSHARDLAB_WITH_CUDA=AUTO -DSHARDLAB_BUILD_KERNELS=AUTO"
    options+=" $(torch_options "$level" "$root" "$build")"
    targets+=(shardlab-rank)
  elif ! libtorch_is_there; then
    options+=" -DSHARDLAB_WITH_TORCH=OFF -DSHARDLAB_TORCH_DIR="
  fi
  wants window && options+=" -DSHARDLAB_BUILD_GUI=AUTO"
  configure "$root" "$build" $options || return
  wants window && is_configured "$build" SHARDLAB_GUI_IS_BUILT && targets+=(shardlab-gui)
  wants real && wants_cuda && is_configured "$build" SHARDLAB_CUDA_IS_BUILT && targets+=(shardlab-rank-cuda)
  build "$build" "${targets[@]}" || return
  local part
  for part in "${parts[@]}"; do stamp "$part"; done
  rm -f "$build/.has.new"
  exec 9>&-
}

# Whether the libtorch that the folder was configured for still exists, if it was for any.
libtorch_is_there() {
  local torch
  torch=$(sed -n 's/^SHARDLAB_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null)
  [ -z "$torch" ] || [ -e "$torch" ]
}

stamp() {
  : >"$build/.has-$1"
  [ "$1" != real ] || sed -n 's/^SHARDLAB_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt" >"$build/.has-$1"
  touch -r "$build/.has.new" "$build/.has-$1"
}

[ $# -gt 0 ] || { cd "$root" && set -- validate scenarios/first/tiny-llama.yaml; } || exit 3
read -ra parts <<<"$(parts_of "$(command_of "$@")" "$@")"
all_current || prepare || exit 3
exec "$build/bin/shardlab" "$@"
