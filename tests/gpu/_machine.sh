# What this machine is, and whether everything that was carried here arrived.
echo "glibc $(ldd --version | head -n 1 | awk '{ print $NF }'), $(nproc) processors, $(df -h --output=avail . | tail -n 1) free"
nvidia-smi --query-gpu=name,driver_version,memory.total,power.limit,clocks.max.sm --format=csv 2>/dev/null || echo "no nvidia-smi"
command -v nvidia-cuda-mps-control || echo "no nvidia-cuda-mps-control"
command -v compute-sanitizer || echo "no compute-sanitizer"
"$SHARDLAB" version || exit 1
"$SHARDLAB_PYTHON" - <<'PROGRAM' || echo "no torch in $SHARDLAB_PYTHON"
import torch
print("torch", torch.__version__, "CUDA", torch.version.cuda, "cuDNN", torch.backends.cudnn.version())
try:
    print("NCCL", ".".join(map(str, torch.cuda.nccl.version())))
except Exception as error:
    print("NCCL:", error)
PROGRAM
bin=$(dirname "$SHARDLAB")
for program in "$bin"/bin/* "$bin"/shardlab-rank-cuda; do
  [ -f "$program" ] || continue
  missing=$(ldd "$program" 2>/dev/null | grep 'not found' | grep -vE 'libtorch|libc10|libcudart' || true)
  [ -z "$missing" ] || echo "$program: $missing"
done
exit 0
