#!/bin/bash
torchrun --nproc-per-node=8 train.py --output_dir out --save_steps 100 --gradient_accumulation_steps four
