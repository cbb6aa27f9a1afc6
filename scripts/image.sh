#!/usr/bin/env bash
# The steps of the images for GPU nodes (Dockerfile, shardlab.def). Each runs as root in the image that is being made:
#
#   scripts/image.sh packages   compilers and the distribution's libraries
#   scripts/image.sh torch      PyTorch with CUDA's libraries, pinned, into /opt/shardlab
#   scripts/image.sh install    builds, and installs into /opt/shardlab, which then needs nothing of this stage
#   scripts/image.sh runtime    in the image that is kept: what /opt/shardlab needs of the distribution
set -uo pipefail  # not -e: report.sh counts on commands that may fail
root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/..")
. "$root/scripts/report.sh"
. "$root/scripts/packages.sh"
. "$root/scripts/python_env.sh"
. "$root/scripts/build.sh"
prefix=/opt/shardlab
export XDG_CACHE_HOME=/opt  # python_env.sh makes its environment in /opt/shardlab
build=$root/build-image

need_packages() {
  local missing
  ensure_packages /tmp/packages.log "$@"
  missing=$(missing_packages "$@")
  [ -z "$missing" ] || { say "missing:" $missing; return 1; }
  rm -rf /var/lib/apt/lists/*
}

need_torch() { ensure_python_env python "$root/scripts" /tmp/torch.log; }

# The ranks for GPUs need CUDA's headers and no GPU; kernels of our own where the image has nvcc.
build_programs() {
  local options
  options=$(torch_options python "$root" "$build")
  configure "$root" "$build" -DCMAKE_INSTALL_PREFIX="$prefix" -DSHARDLAB_BUILD_TESTS=OFF -DSHARDLAB_BUILD_GUI=OFF \
    -DSHARDLAB_WITH_CUDA=ON -DSHARDLAB_BUILD_KERNELS=AUTO $options || return
  build "$build" shardlab shardlab-rank shardlab-rank-cuda
}

install_programs() {
  cmake --install "$build" --strip >/dev/null || return
  cmake --install "$build" --strip --component libraries >/dev/null || return
  printf '#!/bin/sh\nexec %s -m torch.distributed.run "$@"\n' "$SHARDLAB_PYTHON" >"$prefix/bin/torchrun" || return
  chmod +x "$prefix/bin/torchrun" && "$prefix/bin/shardlab" --version
}

case ${1:-} in
  packages) need_packages "${build_packages[@]}" "${python_packages[@]}" ;;
  torch) need_torch ;;
  install) need_torch && build_programs && install_programs ;;
  runtime) need_packages python3 libstdc++6 ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
