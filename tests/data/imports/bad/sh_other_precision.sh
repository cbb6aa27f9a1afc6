#!/bin/bash
cat > ds.json <<EOF
{"train_micro_batch_size_per_gpu": "auto", "fp16": {"enabled": true}, "zero_optimization": {"stage": 2}}
EOF
accelerate launch --num_processes 8 --mixed_precision bf16 --use_deepspeed --deepspeed_config_file ds.json finetune.py
