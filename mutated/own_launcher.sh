# ms-swift starts its ranks itself
NCCL_DEBUG=WARN \
NPROC_PER_NODE=4 \
swift sft \
    --model some/model \
    --tuner_type full \
    --dataset 'a/b#2000' \
              'c/d#500' \
    --torch_dtype bfloat16 \
    --bf16 true \
    --per_device_train_batch_size 2 \
    --weight_decay 0. \
    --max_length 256
