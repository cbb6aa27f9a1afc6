#!/bin/bash
torchrun --nproc-per-node=8 train.py --output_dir out --per_device_train_batch_sise 4
