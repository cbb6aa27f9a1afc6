// Gathers of weights in eight bits (qwZ of ZeRO++): numbers by one call and the scales of their blocks by
// another, turned back into 16 bits when they are waited for.
//
// Source: DeepSpeed 0.19.8, runtime/zero/partition_parameters.py (_all_gather_sequential and
// _all_gather_coalesced with `quantize`, and the `wait` of their handles). The kernels read and write
// float16: other dtypes are cast before and after. Several parameters are joined first, and what they were
// turned back into is copied out of one by one. A handle keeps what arrived until the last of its parameters
// is waited for, and torch what was sent until the gather itself is.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/strategies/step_builder.h"

namespace shardlab {

class QuantizedGathers {
 public:
  struct Flight {
    std::vector<ParameterId> parameters;
    std::vector<BufferId> sent;  // this rank's part
    std::vector<BufferId> held;  // of all ranks, until the last of the parameters is waited for
  };

  QuantizedGathers(StepBuilder& builder, StreamId stream) : b_(builder), stream_(stream) {}

  // `shards`: this rank's elements of each parameter, on the device. `prefix`: of the buffers' names, another
  // one for another group.
  Flight gather(const std::vector<ParameterId>& parameters, const std::vector<BufferId>& shards,
                GroupId group, std::string_view prefix);
  // Fills `whole`, a buffer for each parameter.
  void land(Flight& flight, const std::vector<BufferId>& whole);
  void forget(Flight& flight);

 private:
  // What all buffers of a gather have in common.
  struct Common {
    Buffer shard;  // this rank's elements of all its parameters
    std::string prefix;
    UnitId unit;
  };

  Common common(const std::vector<ParameterId>& parameters, const std::vector<BufferId>& shards,
                std::string_view prefix) const;
  BufferId part(const Common& common, std::string_view what, DType dtype);
  BufferId gathered(const Common& common, std::string_view what, DType dtype);
  BufferId scales(const Common& common, std::string_view what, int ranks);
  BufferId declared(Buffer buffer);

  void allocate(BufferId buffer);
  void copy(InstructionKind kind, UnitId unit, const std::vector<BufferId>& from, BufferId to);
  void quantize(UnitId unit, const std::vector<BufferId>& from, const std::vector<BufferId>& to);
  void send(UnitId unit, GroupId group, BufferId from, BufferId to);
  void copy_out(BufferId half, BufferId whole);
  UnitId unit_of(BufferId whole) const { return *b_.plan().buffer(whole).unit; }

  StepBuilder& b_;
  const StreamId stream_;
  std::map<std::string, BufferId> declared_;  // by name: the same gather has the same buffers
};

}  // namespace shardlab
