#!/usr/bin/env bash
# The steps of the images for GPU nodes (Dockerfile, shardlab.def). Each runs as root in the image that is being made:
#
#   scripts/image.sh packages   compilers and the distribution's libraries
#   scripts/image.sh torch      PyTorch with CUDA's libraries, pinned, into /opt/shardlab
#   scripts/image.sh install    builds, and installs into /opt/shardlab, which then needs nothing of this stage
#   scripts/image.sh runtime    in the image that is kept: what /opt/shardlab needs of the distribution
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/..")
. "$root/scripts/report.sh"
. "$root/scripts/packages.sh"
. "$root/scripts/python_env.sh"
. "$root/scripts/build.sh"
prefix=/opt/shardlab
export XDG_CACHE_HOME=/opt  # python_env.sh makes its environment in /opt/shardlab
build=$root/build-image

need_packages() {
  ensure_packages /tmp/packages.log "$@"
  local missing
  missing=$(missing_packages "$@")
  [ -z "$missing" ] || { say "missing:" $missing; return 1; }
  rm -rf /var/lib/apt/lists/*
}

# The ranks for GPUs need CUDA's headers of the wheels and no GPU; kernels of our own where the image has nvcc.
install_programs() {
  local options
  options=$(torch_options python "$root" "$build")
  configure "$root" "$build" -DCMAKE_INSTALL_PREFIX="$prefix" -DSHARDLAB_BUILD_TESTS=OFF -DSHARDLAB_BUILD_GUI=OFF \
    -DSHARDLAB_WITH_CUDA=ON -DSHARDLAB_BUILD_KERNELS=AUTO $options
  build "$build" shardlab shardlab-rank shardlab-rank-cuda
  cmake --install "$build" --strip >/dev/null
  cmake --install "$build" --strip --component libraries >/dev/null
  ln -sf "$SHARDLAB_PYTHON" "$prefix/bin/python3"
  # torchrun's own first line names the place where its environment was made.
  printf '#!/bin/sh\nexec %s/bin/python3 -m torch.distributed.run "$@"\n' "$prefix" >"$prefix/bin/torchrun"
  chmod +x "$prefix/bin/torchrun"
  "$prefix/bin/shardlab" --version
}

case ${1:-} in
  packages) need_packages "${build_packages[@]}" "${python_packages[@]}" ;;
  torch) ensure_python_env python "$root/scripts" /tmp/torch.log ;;
  install) ensure_python_env python "$root/scripts" /tmp/torch.log && install_programs ;;
  runtime) need_packages python3 libstdc++6 ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
