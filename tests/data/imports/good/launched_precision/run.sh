#!/bin/bash
accelerate launch --num_processes 8 --mixed_precision bf16 --use_deepspeed --deepspeed_config_file ds.json \
  --gradient_clipping 0.5 --zero_stage 2 finetune.py --model_name_or_path meta-llama/Meta-Llama-3-8B --learning_rate 2e-5
