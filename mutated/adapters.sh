torchrun --nproc_per_node=8 train.py --lora_enable True --lora_r 8 --lora_target_modules q_proj v_proj \
  --data_path a.json b.json --output_dir out --per_device_train_batch_size 2 --bf16 True \
  --evaluation_strategy no --gradient_checkpointing True
