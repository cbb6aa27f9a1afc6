#!/bin/bash
torchrun --nproc-per-node=8 --nproc_per_node=4 train.py
