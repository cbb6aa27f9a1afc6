#!/bin/bash
torchrun train.py --nproc_per_node=8 --output_dir out
