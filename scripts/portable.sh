#!/usr/bin/env bash
# Puts the built programs, the distribution's libraries they need and the assets into one folder that runs on a machine with a GPU, CUDA's
# wheel of torch and nothing of ours: no compiler, no network, no Debian packages.
#
#   scripts/portable.sh [BUILD [FOLDER]]      default: build, build/portable
#   FOLDER/shardlab run scenario.yaml         there; PYTHON names the interpreter that has torch 2.11
#
# What stays outside: glibc, the driver, libtorch and NCCL of that interpreter's torch.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")
build=$(readlink -f "${1:-$root/build}")
folder=${2:-$build/portable}
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib" "$folder/tests"
for program in shardlab shardlab-rank shardlab-rank-cuda kernels_equal_host kernel_bandwidth operators_equal_host; do
  [ -x "$build/bin/$program" ] || continue
  strip -o "$folder/bin/$program" "$build/bin/$program"
  ldd "$build/bin/$program" | awk '$2 == "=>" && $3 ~ /^\/(usr\/)?lib/ { print $3 }'
done | sort -u | grep -vE '/(libc|libm|libdl|librt|libutil|libpthread|libresolv|libcuda)\.so|ld-linux' | while read -r library; do
  cp -L "$library" "$folder/lib/"
done
cp -r "$root/assets" "$root/scenarios" "$folder/"
cp -r "$root/tests/gpu" "$folder/tests/"
mkdir -p "$folder/tests/data"
cp -r "$root/tests/data/families" "$folder/tests/data/"
cat >"$folder/shardlab" <<'WRAPPER'
#!/usr/bin/env bash
# Runs the program of its own name's folder with the libraries beside it and those of PYTHON's torch.
here=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
torch=$("${PYTHON:-python3}" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])') || exit 3
libraries=$here/lib:$torch/lib
for folder in "$torch"/../nvidia/*/lib; do libraries=$libraries:$folder; done
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} SHARDLAB_ASSETS=${SHARDLAB_ASSETS:-$here/assets}
exec "$here/bin/${SHARDLAB_PROGRAM:-shardlab}" "$@"
WRAPPER
chmod +x "$folder/shardlab"
du -sh "$folder" | cut -f 1
