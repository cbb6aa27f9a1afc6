#!/bin/bash
torchrun --nproc-per-node=8 train.py --output_dir out --model_name_or_path m --lora_rank 8 --learning_rat 1e-4 --save_steps 100
