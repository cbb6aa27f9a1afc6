NPROC_PER_NODE=8 swift pt --model some/model --tuner_type full --torch_dtype bfloat16 --max_length 256 --fsdp fsdp2
