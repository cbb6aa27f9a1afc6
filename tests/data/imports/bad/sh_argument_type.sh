#!/bin/bash
torchrun --nproc-per-node=8 train.py --output_dir out --gradient_accumulation_steps four
