#!/usr/bin/env bash
# Proves the two commands on a machine with nothing on it: makes a bare Debian 12 in a temporary folder, clones HEAD into
# it, runs ./run.sh simulate, ./run.sh and ./test.sh there, and prints how long each took and how much it downloaded.
#
#   sudo tests/fresh/run.sh [--until packages|environment|simulate|run|test] [--keep]
#
# Needs root, debootstrap, 15 GiB in $TMPDIR and the network. What lets this machine reach the network (apt's and pip's
# configuration, certificates, proxy variables) is lent to the bare one; nothing else of it is.
set -euo pipefail

source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
until=test keep=
while [ $# -gt 0 ]; do
  case $1 in
    --until) until=${2:?}; shift 2 ;;
    --keep) keep=yes; shift ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
case $until in packages | environment | simulate | run | test) ;; *) echo "--until packages, environment, simulate, run or test" >&2; exit 2 ;; esac
[ "$(id -u)" -eq 0 ] || { echo "needs root, for chroot" >&2; exit 3; }
command -v debootstrap >/dev/null || { echo "needs debootstrap (apt-get install debootstrap)" >&2; exit 3; }

work=$(mktemp -d "${TMPDIR:-/tmp}/shardlab-fresh-XXXXXX")
bare=$work/root
. "$source/tests/fresh/bare.sh"
trap leave EXIT

predict() {
  timed "./run.sh simulate, first time" './run.sh simulate scenarios/first/llama3-8b-fsdp2-8xh100.yaml >/dev/null'
}

make_bare
lend_network
git clone --quiet --no-hardlinks "$source" "$bare/root/shardlab"
echo "clean checkout of $(git -C "$source" rev-parse --short HEAD) in a bare Debian $(cat "$bare/etc/debian_version")"

ready='. scripts/report.sh && . scripts/packages.sh && . scripts/python_env.sh'
case $until in
  packages) timed "packages" "$ready"' && ensure_packages build/packages.log "${build_packages[@]}" &&
      [ -z "$(missing_packages "${build_packages[@]}")" ]' ;;
  environment) timed "packages and libtorch" "$ready"' &&
      ensure_packages build/packages.log "${build_packages[@]}" "${python_packages[@]}" &&
      ensure_python_env libtorch scripts build/libtorch.log' ;;
  simulate) predict ;;
  run | test) predict; timed "./run.sh" ./run.sh; timed "./run.sh simulate, second time" \
      './run.sh simulate scenarios/first/tiny-llama.yaml >/dev/null' ;;
esac
if [ "$until" = test ]; then timed "./test.sh" ./test.sh; fi
report
