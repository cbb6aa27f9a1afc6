// The reduction of gradients in four bits over several nodes (qgZ of ZeRO++): one gradient after the other is
// exchanged within nodes, added up, exchanged between nodes and added up again.
//
// Source: DeepSpeed 0.19.8, runtime/comm/coalesced_collectives.py (all_to_all_quant_reduce). Numbers and
// scales travel by a call each. Vectors, and what all ranks do not divide into pairs, are reduced as ever,
// one by one. What a step of a gradient made lives until the same step of the next one has made its own:
// Python gives the name to the new tensor then.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/strategies/step_builder.h"

namespace shardlab {

class QuantizedReduction {
 public:
  // `group` of all `ranks`, `node_ranks` of which are neighbours on a node.
  QuantizedReduction(StepBuilder& builder, UnitId root, StreamId stream, GroupId group, int ranks,
                     int node_ranks);

  // `gradients` holds those of these parameters. Returns this rank's averages of each, to be freed by whoever
  // calls.
  std::vector<BufferId> reduce(BufferId gradients, const std::vector<ParameterId>& parameters,
                               int micro_batch);

 private:
  // Numbers of four bits and the scales of their blocks.
  struct Coded {
    BufferId numbers, scales;
  };
  enum class Step : std::uint8_t { coded, near, summed, far, wide };
  static constexpr std::size_t k_steps = 5;

  BufferId scatter(BufferId gradients, ParameterId parameter);
  BufferId exchange(BufferId gradients, ParameterId parameter);
  BufferId average(BufferId wide, ParameterId parameter);

  Coded declare_coded(std::string_view what, ParameterId parameter, int shards, std::int64_t blocks);
  BufferId declare_part(std::string_view what, ParameterId parameter, int shards, DType dtype);
  Buffer buffer(std::string_view what, ParameterId parameter) const;
  void quantize(std::vector<BufferId> from, Bytes read, std::vector<BufferId> to);
  Bytes bytes(const Coded& coded) const;
  Coded send(const Coded& coded, std::string_view what, ParameterId parameter, GroupId group);
  void send_one(BufferId from, BufferId to, GroupId group, ReduceOperation reduce);
  void hold(Step step, std::vector<BufferId> made);
  void drop_held();

  StepBuilder& b_;
  const UnitId root_;
  const StreamId stream_;
  const GroupId group_, node_, between_nodes_;
  const int ranks_, node_ranks_, nodes_;
  int micro_batch_ = 0;
  std::array<std::vector<BufferId>, k_steps> held_;
};

}  // namespace shardlab
