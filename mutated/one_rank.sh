export OMP_NUM_THREADS=4
CUDA_VISIBLE_DEVICES=0 python train.py --output_dir out --per_device_train_batch_size 2 --bf16 --max_steps 100
