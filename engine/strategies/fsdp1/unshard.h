// The parameter side of FSDP1: unshard and reshard of flat parameters. Private to this folder.
//
// Source: torch 2.11, fsdp/_runtime_utils.py (_unshard, _reshard) and fsdp/_flat_param.py (pre_unshard,
// unshard, post_unshard).
#pragma once

#include <string>
#include <vector>

#include "engine/strategies/fsdp1/flat_unit.h"
#include "engine/strategies/fsdp1/free_events.h"

namespace shardlab::fsdp1 {

class Unshard {
 public:
  Unshard(StepBuilder& builder, const Streams& streams, const Settings& settings, GroupId group,
          bool limit_all_gathers, std::vector<FlatUnit>& units)
      : b_(builder),
        streams_(streams),
        settings_(settings),
        group_(group),
        events_(builder, limit_all_gathers),
        units_(units) {}

  // Root pre-forward: both streams wait for what compute did before.
  void begin_micro_batch();
  // Casts, passes the limiter and gathers, as far as there is something to do.
  void unshard(UnitId unit);
  // Compute waits for all gathers issued so far.
  void wait() { b_.wait(StepBuilder::compute(), streams_.unshard); }
  // Back to the shard; `free` says whether the gathered buffer goes. `where`: "forward.mb0", for the event's
  // name.
  void reshard(UnitId unit, bool free, const std::string& where);
  void end_of_step() { events_.leave(); }

 private:
  void bring_in(FlatUnit& state, UnitId unit);
  void drop_input(const FlatUnit& state, UnitId unit);
  void cast_shard(FlatUnit& state, UnitId unit);
  void gather(FlatUnit& state, UnitId unit);
  InstructionId free_full(FlatUnit& state, UnitId unit);

  StepBuilder& b_;
  Streams streams_;
  Settings settings_;
  GroupId group_;
  FreeEvents events_;
  std::vector<FlatUnit>& units_;
};

}  // namespace shardlab::fsdp1
