// The scenario that a target reads something for, where the bytes themselves say no model.
#pragma once

#include <string_view>

namespace shardlab::fuzz {

inline constexpr std::string_view k_base_scenario =
    "name: base\nmodel: {config: llama-3-8b, sequence_length: 4096}\ncluster: {node: hgx-h100, nodes: 1}\n"
    "parallel: {strategy: fsdp2}\ntrain: {micro_batch: 1}\n";

}  // namespace shardlab::fuzz
