# the file's text itself, as ms-swift takes it
NPROC_PER_NODE=2 swift sft --model some/model --tuner_type full --torch_dtype bfloat16 --max_length 256 \
    --fsdp '{"fsdp": "full_shard auto_wrap offload", "fsdp_config": {"activation_checkpointing": true}, "version": 2}'
