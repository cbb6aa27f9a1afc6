#!/bin/bash
torchrun --nproc-per-node=8 a.py
torchrun --nproc-per-node=8 b.py
