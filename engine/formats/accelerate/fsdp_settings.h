// Settings of FSDP from the words of accelerate's plugin, in accelerate's own file or in the Trainer's
// fsdp_config.
//
// Source: accelerate 1.15.0, utils/dataclasses.py (FullyShardedDataParallelPlugin), utils/launch.py.
#pragma once

#include <string>
#include <vector>

#include "engine/formats/tools/import_subject.h"
#include "engine/formats/tools/read_back.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/run_words.h"

namespace shardlab {

// Where the plugin's words stand: the Trainer's fsdp_config where its `fsdp` is on, else accelerate's.
bool trainer_has_fsdp(const ImportSubject& subject);
// 1 or 2; 0: no FSDP.
int fsdp_version(const ImportSubject& subject);

ReadBack read_sharding(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_resharding(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_classes(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_ignored_modules(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_backward_prefetch(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_of_version_1(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_parameter_offload(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_layer_checkpoints(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_checkpoint_offload(const ImportSubject& subject, const ForeignValue* value);
// Where rank 0 loads alone; `by_default`: where the key is left out.
ReadBack read_loading(const ForeignValue* value, bool by_default);
// `absent`: what the tool saves where the key is left out.
ReadBack read_state_dict(const ForeignValue* value, CheckpointType absent);
// The policy: words of the plugin, none for no policy; of SIZE_BASED_WRAP the least number of parameters.
ReadBack read_policy(const ForeignValue* value, std::string_view absent, std::int64_t least);

// "A,B" or a list, as it is written.
std::vector<std::string> listed_classes(const ForeignValue* value);

// What the value says, or `absent` where there is none or it is no boolean.
bool flag_of(const ForeignValue* value, bool absent);

// The sharding that the words "FULL_SHARD", "full_shard" or the numbers 1 to 5 mean.
std::optional<Fsdp1Sharding> sharding_called(const ForeignValue& value);

}  // namespace shardlab
