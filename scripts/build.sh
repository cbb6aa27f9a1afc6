# shellcheck shell=bash
# Configuring and building one build folder.

# Compilers of libtorch sources take 1.5 GiB each: no more of them than fit.
build_jobs() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 1)
  memory=$(awk '/MemTotal/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo 1)
  [ "${memory:-1}" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# configure <source> <build> <cmake option>...
configure() {
  local source=$1 build=$2
  shift 2
  # A tree that was copied brings a cache with the paths of its old place.
  if [ -f "$build/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source" "$build/CMakeCache.txt"; then
    rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
  fi
  step "configuring $(basename "$build")" "$build/configure.log" cmake -S "$source" -B "$build" -G Ninja "$@"
}

# build <build> <target>...
build() {
  local build=$1
  shift
  step "building $(basename "$build")" "$build/build.log" \
    env NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$(build_jobs)" "$@"
}

# The cmake options that say whether libtorch is used: SHARDLAB_WITH_TORCH=OFF in the environment goes without.
torch_options() {
  if [ "${SHARDLAB_WITH_TORCH:-AUTO}" != OFF ] && ensure_python_env "$1/scripts/requirements.txt" "$2/libtorch.log"; then
    local torch
    torch=$("$SHARDLAB_PYTHON" -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])")
    echo -DSHARDLAB_WITH_TORCH=ON "-DSHARDLAB_TORCH_DIR=$torch"
  else
    echo -DSHARDLAB_WITH_TORCH=OFF -DSHARDLAB_TORCH_DIR=
  fi
}

# The window's target, where cmake found what it needs.
gui_target() {
  grep -q "^SHARDLAB_GUI_IS_BUILT:INTERNAL=ON" "$1/CMakeCache.txt" && echo shardlab-gui
}
