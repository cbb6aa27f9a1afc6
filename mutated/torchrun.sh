#!/usr/bin/env bash
set -eu
export NCCL_DEBUG=INFO
export PYTORCH_ALLOC_CONF='expandable_segments:True'
GPUS=8
torchrun --nnodes=2 --nproc_per_node=$GPUS --rdzv_backend=c10d --rdzv_endpoint=head:29500 \
  train.py --model_name_or_path meta-llama/Llama-3.2-1B --output_dir out \
  --per_device_train_batch_size 1 --bf16 True --fsdp "full_shard auto_wrap" --gradient_accumulation_steps=8
