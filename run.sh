#!/usr/bin/env bash
# Installs what is missing, builds, and runs shardlab with the arguments given; without any it runs the first scenario for
# real and simulated and compares the two. Builds again only when a source changed. SHARDLAB_WITH_TORCH=OFF goes without
# libtorch, SHARDLAB_BUILD_GUI=OFF without the desktop window. Exit code: the program's; 3 when it could not be built.
set -uo pipefail
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$root/build

# Nothing to do: the stamp is younger than every source and folder of sources, and libtorch is where it was.
is_current() {
  [ -x "$build/bin/shardlab" ] && [ -f "$build/.ready" ] || return 1
  local torch
  torch=$(<"$build/.ready")
  [ -z "$torch" ] || [ -e "$torch" ] || return 1
  [ "${SHARDLAB_WITH_TORCH:-AUTO}" = OFF ] && [ -n "$torch" ] && return 1
  [ -z "$(find "$root/engine" "$root/simulator" "$root/gui" "$root/cmake" "$root/scripts" "$root/CMakeLists.txt" \
    -newer "$build/.ready" -print -quit)" ]
}

prepare() {
  . "$root/scripts/report.sh"
  . "$root/scripts/packages.sh"
  . "$root/scripts/python_env.sh"
  . "$root/scripts/build.sh"
  mkdir -p "$build" && exec 9>"$build/.lock" && flock 9 || return
  is_current && return 0  # another run.sh built it meanwhile
  say "Preparing shardlab in $build"
  local options
  ensure_packages "$build/packages.log"
  : >"$build/.ready.new"  # dated before the build: what is edited meanwhile is younger
  options=$(torch_options "$root" "$build")
  configure "$root" "$build" $options "-DSHARDLAB_BUILD_GUI=${SHARDLAB_BUILD_GUI:-AUTO}" || return
  build "$build" shardlab shardlab-rank $(gui_target "$build") || return
  sed -n 's/^SHARDLAB_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt" >"$build/.torch"
  touch -r "$build/.ready.new" "$build/.torch"
  mv "$build/.torch" "$build/.ready"
  rm -f "$build/.ready.new"
  exec 9>&-
}

is_current || prepare || exit 3
if [ $# -eq 0 ]; then
  cd "$root" || exit 3
  set -- validate scenarios/first/tiny-llama.yaml
fi
exec "$build/bin/shardlab" "$@"
