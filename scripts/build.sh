# shellcheck shell=bash
# Configuring and building the build folder, part by part: predictions need neither libtorch nor the window.

# Compilers of libtorch sources take 1.5 GiB each: no more of them than fit.
build_jobs() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 1)
  memory=$(awk '/MemTotal/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo 1)
  [ "${memory:-1}" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# configure <source> <build> <cmake option>...: options of an earlier configuration that are not named stay as they are. A folder that is
# new compiles the sources of a folder together (cmake/Unity.cmake).
configure() {
  local source=$1 build=$2
  shift 2
  # A tree that was copied brings a cache with the paths of its old place.
  if [ -f "$build/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source" "$build/CMakeCache.txt"; then
    rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
  fi
  [ -f "$build/CMakeCache.txt" ] || set -- -DSHARDLAB_UNITY=ON "$@"
  step "configuring $(basename "$build")" "$build/configure.log" cmake -S "$source" -B "$build" -G Ninja "$@"
}

# build <build> <target>...: the log ends with the files that took longest.
build() {
  local build=$1 status=0 before
  shift
  before=$(wc -l 2>/dev/null <"$build/.ninja_log" || echo 0)
  step "building $(basename "$build")" "$build/build.log" \
    env NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$(build_jobs)" "$@" || status=$?
  slowest_files "$build/.ninja_log" "$before" >>"$build/build.log"
  return "$status"
}

# slowest_files <.ninja_log> <lines before>: the ten slowest of the commands that the log has got since.
slowest_files() {
  echo "The slowest of this build, in seconds:"
  tail -n "+$(($2 + 1))" "$1" 2>/dev/null | awk -F '\t' 'NF >= 4 { printf "%7.1f  %s\n", ($2 - $1) / 1000, $4 }' |
    sort -rn | head -n 10
}

# The options of a folder that was never configured: nothing but predictions.
first_options() {
  [ -f "$1/CMakeCache.txt" ] ||
    echo -DSHARDLAB_WITH_TORCH=OFF -DSHARDLAB_BUILD_GUI=OFF -DSHARDLAB_BUILD_KERNELS=OFF -DSHARDLAB_BUILD_TESTS=OFF
}

# The cmake options for real runs: SHARDLAB_WITH_TORCH=OFF in the environment goes without. <level> as in python_env.sh.
torch_options() {
  local level=$1 source=$2 build=$3 torch
  if [ "${SHARDLAB_WITH_TORCH:-AUTO}" != OFF ] && ensure_python_env "$level" "$source/scripts" "$build/libtorch.log"; then
    torch=$("$SHARDLAB_PYTHON" -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])")
    echo -DSHARDLAB_WITH_TORCH=ON "-DSHARDLAB_TORCH_DIR=$torch"
  else
    echo -DSHARDLAB_WITH_TORCH=OFF -DSHARDLAB_TORCH_DIR=
  fi
}

# Whether this machine has an NVIDIA GPU, or the programs for one are asked for (SHARDLAB_WITH_CUDA=ON in the environment).
wants_cuda() {
  [ "${SHARDLAB_WITH_CUDA:-AUTO}" != OFF ] && { [ "${SHARDLAB_WITH_CUDA:-AUTO}" = ON ] || [ -e /dev/nvidia0 ]; }
}

# is_configured <build> <name>: what cmake said of a part (SHARDLAB_GUI_IS_BUILT, SHARDLAB_CUDA_IS_BUILT ...).
is_configured() { grep -q "^$2:INTERNAL=ON" "$1/CMakeCache.txt"; }
