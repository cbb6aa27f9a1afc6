#!/bin/bash
torchrun --nproc_per_nodes=8 train.py
