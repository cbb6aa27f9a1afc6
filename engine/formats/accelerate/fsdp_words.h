// Settings of FSDP in the words of accelerate's plugin, which its own file and transformers' share.
//
// Source: accelerate 1.15.0, utils/dataclasses.py (FullyShardedDataParallelPlugin), utils/constants.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/formats/tools/export_subject.h"

namespace shardlab {

std::string sharding_word(const ExportSubject& subject);  // "FULL_SHARD"; of FSDP1
std::string policy_word(const ExportSubject& subject);    // "TRANSFORMER_BASED_WRAP"
std::string prefetch_word(const ExportSubject& subject);  // "BACKWARD_PRE"; of FSDP1
std::string state_dict_word(const ExportSubject& subject);

// The classes of TRANSFORMER_BASED_WRAP: the layer's where the scenario's policy goes by something that the
// plugin does not know; empty with another policy.
std::vector<std::string> wrapped_classes(const ExportSubject& subject);

bool wraps_by_size(const ExportSubject& subject);
std::int64_t least_parameters(const ExportSubject& subject);   // of a unit, where it is wrapped by size
std::string ignored_expression(const ExportSubject& subject);  // for Python's re; empty: nothing is ignored

bool reshards_units(const ExportSubject& subject);      // of FSDP2
bool prefetches_forward(const ExportSubject& subject);  // of FSDP1
bool limits_gathers(const ExportSubject& subject);      // of FSDP1
bool uses_orig_params(const ExportSubject& subject);    // of FSDP1

bool checkpoints_layers(const ExportSubject& subject);
bool offloads_checkpoints(const ExportSubject& subject);  // what they keep: the inputs of layers
bool offloads_parameters(const ExportSubject& subject);

// Rank 0 loads the model and sends it to the others.
bool loads_on_one_rank(const ExportSubject& subject);

}  // namespace shardlab
