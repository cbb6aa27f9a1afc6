# ms-swift brings the configuration that --deepspeed names, and chooses adapters and bfloat16 itself
nproc_per_node=4

NPROC_PER_NODE=$nproc_per_node \
swift sft \
    --model some/model \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps $(expr 16 / $nproc_per_node) \
    --max_length 256 \
    --deepspeed zero3_offload
