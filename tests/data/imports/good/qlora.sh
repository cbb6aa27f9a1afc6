torchrun --nproc_per_node=8 sft.py --model_name_or_path meta-llama/Meta-Llama-3-8B --load_in_4bit True \
  --use_bnb_nested_quant True --use_peft True --lora_r 16 --lora_alpha 32 --lora_target_modules q_proj v_proj \
  --activation_offloading True --max_length 2048 --per_device_train_batch_size 2 --bf16 True --gradient_checkpointing True
