// The gathers of ZeRO-3's parameters: alone into their own memory, several through one flat buffer.
//
// Source: DeepSpeed 0.19.8, runtime/zero/partition_parameters.py (all_gather_coalesced): each parameter is
// flat and padded to a multiple of the ranks; several are gathered rank by rank into one buffer and copied
// out when the first of them is waited for; the buffer lives until the last of them was, for their handle
// holds it. partitioned_param_coordinator.py: the host waits when more than two waited gathers are not done.
// With offload_param the shards lie in host memory: each is copied to the device before it is gathered, and
// the host waits for the copy (Tensor.to(), which blocks). Of what is gathered at once, parameters with a
// secondary shard come first and apart (__all_gather_params_). With zero_quantized_weights what is gathered
// around modules goes in eight bits (quantized_gathers.h); what is gathered after the update or asked for
// does not (_all_gather).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/strategies/host_state.h"
#include "engine/strategies/zero3/quantized_gathers.h"
#include "engine/strategies/zero3/secondary_shards.h"

namespace shardlab {

class Gathers {
 public:
  // Declares the shards, which live across steps, and the whole parameters; fills the shards in the setup.
  // `neighbours`: ranks that share a secondary shard; 1: none do. `host`: where the shards lie, if not on the
  // device. `quantizes`: gathers in eight bits.
  Gathers(StepBuilder& builder, StreamId stream, GroupId group, int ranks, int neighbours,
          std::optional<HostState> host, bool quantizes);

  BufferId shard(ParameterId parameter) const { return shards_[parameter.index()]; }
  BufferId whole(ParameterId parameter) const { return whole_[parameter.index()]; }
  const std::vector<BufferId>& shards() const { return shards_; }

  // Issues one gather of these, two if some have a secondary shard; sequentially one each.
  void gather(const std::vector<ParameterId>& parameters, bool sequentially);
  // One each, from the shards of all ranks.
  void gather_asked_for(const std::vector<ParameterId>& parameters);
  // Compute may read these from now on.
  void wait(const std::vector<ParameterId>& parameters);
  // Frees whole parameters after what was issued on compute so far; what has no secondary shard leaves one.
  void release(const std::vector<ParameterId>& parameters);
  // Secondary shards of trained parameters end.
  void forget_secondary();
  // On compute, from the shards of all ranks, each into its own memory, at once usable.
  void gather_in_place(const std::vector<ParameterId>& parameters);
  // A whole parameter that lives since the step before.
  void carry(ParameterId parameter) { b_.carry(whole(parameter)); }

 private:
  enum class From : std::uint8_t { all_ranks, neighbours };

  struct Flight {
    std::vector<ParameterId> parameters;
    std::optional<BufferId> flat = std::nullopt;           // where they were gathered, if they are several
    std::vector<QuantizedGathers::Flight> quantized = {};  // what arrives in eight bits
    std::size_t awaited = 0;                               // how many of them somebody has still to wait for
    bool landed = false;                                   // each has memory of its own
  };

  Buffer whole_buffer(ParameterId parameter) const;
  Buffer shard_buffer(ParameterId parameter, std::string_view name) const;
  GroupId group(From from) const { return from == From::all_ranks ? group_ : secondary_->group(); }
  BufferId bring(ParameterId parameter, StreamId stream, From from);
  void gather_from(From from, const std::vector<ParameterId>& parameters, bool sequentially);
  void gather_one(ParameterId parameter, StreamId stream, From from);
  void gather_each(const std::vector<ParameterId>& parameters, From from);
  BufferId flat_buffer(const std::vector<ParameterId>& parameters, From from);
  void gather_together(const std::vector<ParameterId>& parameters, From from);
  void gather_quantized(const std::vector<ParameterId>& parameters, From from, bool together);
  // The last flight's, for which somebody will wait.
  void take_off(const std::vector<ParameterId>& parameters);
  void land(Flight& flight);
  void forget(ParameterId parameter);
  void free(const std::vector<ParameterId>& parameters);
  void limit();

  StepBuilder& b_;
  const StreamId stream_;
  const GroupId group_;
  const int ranks_;
  const std::optional<HostState> host_;
  std::vector<BufferId> shards_, whole_;  // by ParameterId
  std::vector<BufferId> arrived_;         // by ParameterId: its shard on the device, where it rests elsewhere
  std::optional<SecondaryShards> secondary_;
  std::optional<QuantizedGathers> quantized_;
  std::vector<Flight> flights_;
  std::map<ParameterId, std::size_t> flight_of_;  // that were not waited for
  std::deque<InstructionId> landed_;              // whose end the host has not waited for
  std::map<std::string, BufferId> flat_;          // by name, of gathers of several
};

}  // namespace shardlab
