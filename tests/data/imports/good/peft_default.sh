# TRL leaves the layers of adapters to peft
trl sft --model_name_or_path some/model --use_peft --max_length 256 --per_device_train_batch_size 2
