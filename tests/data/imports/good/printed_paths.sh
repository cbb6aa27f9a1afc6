#!/bin/bash
# What pwd, expr and dirname of the script print is known without running them.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
base=`pwd`
GPUS=8
deepspeed --num_gpus=$GPUS train.py --deepspeed_config $HERE/zero2_fixed.json --output_dir $base/out --data $PWD/data \
  --length $(expr $GPUS \* 64)
