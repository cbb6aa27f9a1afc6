#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:h100:4
# The script writes the file that it names; options stand in variables and arrays.
CONFIG=./ds_$SLURM_JOBID.json
BATCH=16
cat <<EOT > $CONFIG
{
  "train_micro_batch_size_per_gpu": $((BATCH / SLURM_NNODES / 4)),
  "bf16": {"enabled": true},
  "zero_optimization": {"stage": 2}
}
EOT
RANKS="--nnodes $SLURM_NNODES --nproc_per_node ${SLURM_GPUS_ON_NODE:-1}"
ARGS=(
  --deepspeed  # of the program
  --deepspeed_config ${CONFIG}
)
ARGS+=(--seed 3)
echo "torchrun $RANKS"
srun torchrun $RANKS train.py "${ARGS[@]}" > log.txt 2>&1
