// Which buffers of a plan are several tensors: the caching allocator gives each a block of its own.
//
// Source: torch 2.11. FSDP2 keeps one tensor a parameter for shards, optimizer states and what a gather is
// unpacked into (_fsdp_param.py: _sharded_param_data, all_gather_outputs); what collectives read and write,
// and the gradients cut from it, are one tensor a unit (_fsdp_collectives.py). FSDP1 has flat vectors; with
// use_orig_params its optimizer sees the part of each parameter that lies in the rank's shard
// (_flat_param.py). DDP and a plain loop have the module's own parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/units.h"
#include "engine/model/model_graph.h"
#include "engine/plan/buffer.h"

namespace shardlab {

enum class WhoseStorages : std::uint8_t {
  framework,  // the user's program
  executor,   // our own: one storage a buffer, but for separate parameters
};

// Bytes of each tensor, in the order of the buffer's parameters; those without bytes are left out. Flat
// shards are those of the first rank.
std::vector<Bytes> storages_of(const ModelGraph& graph, const Buffer& buffer, WhoseStorages whose);

}  // namespace shardlab
