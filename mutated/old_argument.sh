#!/bin/bash
torchrun --nproc-per-node=8 train.py --output_dir out --evaluation_strategy no
