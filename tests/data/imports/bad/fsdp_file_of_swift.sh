# ms-swift would look for a file of that name
NPROC_PER_NODE=2 swift sft --model some/model --max_length 256 --fsdp nowhere/fsdp2.json
