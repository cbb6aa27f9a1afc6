// Settings of a scenario from the keys of accelerate's configuration file.
//
// Source: accelerate 1.15.0, commands/launch.py, utils/launch.py, state.py.
#pragma once

#include "engine/formats/tools/import_subject.h"
#include "engine/formats/tools/read_back.h"

namespace shardlab {

ReadBack read_distributed_type(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_mixed_precision(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_machines(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_processes(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_master(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_use_cpu(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_mesh_size(const ImportSubject& subject, const ForeignValue* value);

// Inside fsdp_config.
ReadBack read_accelerate_policy(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_accelerate_least(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_accelerate_loading(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_accelerate_state_dict(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_accelerate_sync(const ImportSubject& subject, const ForeignValue* value);

// What `accelerate launch` does with the file.
enum class AccelerateKind : std::uint8_t { one_process, replicas, fsdp, deepspeed, other };
AccelerateKind accelerate_kind(const ImportSubject& subject);

// The dtype that `mixed_precision` asks for, after the Trainer's bf16 and fp16; nothing: none.
std::optional<DType> mixed_dtype(const ImportSubject& subject);

std::int64_t machines(const ImportSubject& subject);
std::optional<std::int64_t> processes(const ImportSubject& subject);

}  // namespace shardlab
