NPROC_PER_NODE=8 swift sft --model some/model --torch_dtype bfloat16 --max_length 256 --per_device_train_batch_size 1
