torchrun --nproc_per_node=4 --master_port=12345 train.py \
    --model_name_or_path <your_path_to_the_weights> \
    --bf16 True \
    --output_dir <your_output_dir> \
    --per_device_train_batch_size 4 \
    --fsdp "full_shard auto_wrap"
