deepspeed --num_gpus=8 train.py --deepspeed zero2_fixed.json --output_dir out --dataset mine --per_device_train_batch_size 2
