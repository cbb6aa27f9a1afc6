# ms-swift takes the name of a JSON file for --fsdp, with fsdp and fsdp_config in it
NPROC_PER_NODE=2 swift sft --model some/model --tuner_type lora --lora_rank 8 --torch_dtype bfloat16 \
    --per_device_train_batch_size 1 --max_length 256 --fsdp '../named/fsdp2_of_swift.json'
