torchrun --nproc_per_node=8 sft.py --model_name_or_path meta-llama/Meta-Llama-3-8B --attn_implementation eager \
  --max_length 2048 --per_device_train_batch_size 2 --bf16 True --gradient_checkpointing True
