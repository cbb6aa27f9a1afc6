#!/bin/bash
#SBATCH --nodess=2
srun torchrun --nproc-per-node=8 a.py
