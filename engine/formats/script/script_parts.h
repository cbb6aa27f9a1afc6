// The parts of a training program, each a piece of Python. Private to this folder.
//
// All take a subject that script_target.cpp does not refuse. Texts end with a line's end; an empty one says
// that the program needs no such part.
#pragma once

#include <string>
#include <string_view>

#include "engine/formats/tools/export_subject.h"

namespace shardlab {

// What the text after the program's name says of how it shards: "fully_shard of PyTorch 2.11".
std::string sharding_words(const ExportSubject& subject);

// "import os" ..., those of the standard library first: what `program`, the text of all other parts, uses.
std::string script_imports(std::string_view program);

// MODEL, SEQUENCE_LENGTH ...: what the functions below read.
std::string script_constants(const ExportSubject& subject);

// class Batches.
std::string script_batches(const ExportSubject& subject);

// make_model(): the module with its weights, what is frozen, and the loss.
std::string script_model(const ExportSubject& subject);

// shard(model), or initialize(model) of DeepSpeed.
std::string script_sharding(const ExportSubject& subject);
std::string ddp_sharding(const ExportSubject& subject);
std::string fsdp1_sharding(const ExportSubject& subject);
std::string fsdp2_sharding(const ExportSubject& subject);
std::string deepspeed_sharding(const ExportSubject& subject);

// make_optimizer(), learning_rate().
std::string script_optimizer(const ExportSubject& subject);

// train_step().
std::string script_step(const ExportSubject& subject);

// class Record.
std::string script_record(const ExportSubject& subject);

std::string script_main(const ExportSubject& subject);

// checkpoint_layers(model): activations that are computed again.
std::string script_checkpointing(const ExportSubject& subject);
bool checkpoints_inside(const ExportSubject& subject);
bool checkpoints_outside(const ExportSubject& subject);

// Whether units are made of meta tensors first and filled from rank 0, so that no rank but one holds the
// model.
bool fills_from_rank0(const ExportSubject& subject);

// Whether the model computes its loss, so that hooks of its root come after it.
bool loss_inside(const ExportSubject& subject);

// "torch.bfloat16".
std::string torch_dtype(DType dtype);

}  // namespace shardlab
