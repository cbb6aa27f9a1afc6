#!/bin/bash
cat > accelerate.yaml << 'EOF'
distributed_type: MULTI_GPU
mixed_precision: bf16
num_processes: 4
EOF
accelerate launch --config_file accelerate.yaml train.py
