#!/bin/bash
#SBATCH --job-name=train
#SBATCH --nodes=4 --ntasks-per-node=1
#SBATCH --gres=gpu:8
#SBATCH --time=24:00:00
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" |na heaNODES" --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint="$HEAD:29500" --rdzv_id="$SLURM_JOB_ID"