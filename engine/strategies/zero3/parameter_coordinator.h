// Which parameters ZeRO-3 gathers and releases around each module, as DeepSpeed decides it.
//
// Source: DeepSpeed 0.19.8, runtime/zero/partitioned_param_coordinator.py. The order in which modules are
// entered is recorded in the first forward and backward; from the next on it says what to gather ahead and
// what is used again soon enough to stay. What is released after a module is decided once, in the first
// micro-batch with a trace, and remembered (lru_cache of __params_to_release): what the look ahead has passed
// by then decides for the whole run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/model/partition.h"
#include "engine/scenario/zero_options.h"
#include "engine/strategies/zero3/trace_recorder.h"

namespace shardlab {

class ParameterCoordinator {
 public:
  // `events`: of record_trace(). `starts_whole`: the first micro-batch with a trace begins a step, so that
  // the persistent parameters are there. Graph, partition and `reads` must outlive this.
  ParameterCoordinator(const ModelGraph& graph, const Partition& partition, const ModuleReads& reads,
                       const ZeroOptions& options, const std::vector<TraceEvent>& events, bool starts_whole);

  // Small parameters stay whole: those of at most stage3_param_persistence_threshold elements, in the order
  // of definition until all of them would be more than stage3_model_persistence_threshold.
  bool is_persistent(ParameterId parameter) const { return persistent_[parameter.index()]; }

  // A micro-batch begins; the trace is complete from the second of a run on.
  void begin(bool trace_is_complete);

  struct Fetch {
    std::vector<ParameterId> now, ahead;  // each gathered together, in the order of definition
    std::vector<ParameterId> asked_for;   // gathered one by one: another module came to them first
  };
  // A module is entered.
  Fetch fetch(UnitId unit, TracePass pass);
  // One without parameters: what is gathered ahead.
  std::vector<ParameterId> pass_by();
  // It is left: its parameters that are freed now.
  std::vector<ParameterId> release(UnitId unit, TracePass pass);
  // At the end of backward: of modules that were entered and not left, because no gradient goes through their
  // inputs, the last first (release_backward_leftovers); and what recomputations gathered for none.
  std::vector<ParameterId> release_leftovers();

  // The optimizer gathers no longer and frees what is left.
  std::vector<ParameterId> release_all();
  // What a unit's module reads, in the order of definition. Of those that it looks at DeepSpeed learns as it
  // comes to them in the first forward (ZeROOrderedDict.__getitem__, register_external_parameter).
  const std::vector<ParameterId>& parameters(UnitId unit) const { return reads_.of(unit); }

  void note_gathered(ParameterId parameter) { available_[parameter.index()] = true; }

 private:
  struct Use {
    ParameterId parameter;
    std::int64_t step = 0;  // of the trace
  };

  std::int64_t elements(ParameterId parameter) const { return graph_.parameter(parameter).elements(); }
  std::int64_t& fetched_for(ParameterId parameter) { return fetched_for_[parameter.index()]; }
  void leave(UnitId unit);
  void keep_for_backward(UnitId unit);
  std::vector<ParameterId> release_kept_for(UnitId owner);
  void drop(ParameterId parameter, std::vector<ParameterId>& released);
  void take(std::vector<ParameterId>& parameters);
  void decide_releases(const std::vector<TraceEvent>& events, bool starts_whole);
  void skip_own(UnitId unit);
  std::vector<ParameterId> look_ahead();
  void take_asked_for(Fetch& fetch);
  bool is_used_again_soon(ParameterId parameter, bool by_leaf) const;

  const ModelGraph& graph_;
  const Partition& partition_;
  const ZeroOptions options_;
  const ModuleReads& reads_;
  const std::vector<TraceEvent> trace_;       // of entries alone
  std::vector<std::vector<UnitId>> readers_;  // by ParameterId: units entered and not left, which keep it
  // By UnitId: frozen parameters that a recomputation gathered while the unit was the last that backward had
  // entered and not left; they stay until it is left (ds_recompute_parameters). The root stands for none.
  std::vector<std::vector<ParameterId>> kept_for_;
  std::vector<UnitId> in_backward_;        // entered and not left
  std::vector<bool> persistent_;           // by ParameterId
  std::vector<bool> available_;            // by ParameterId: whole, or on its way
  std::vector<bool> looked_at_;            // by ParameterId: by a module that it is not registered on
  std::deque<Use> queue_;                  // uses of the trace that nobody has looked at
  std::vector<std::int64_t> fetched_for_;  // by ParameterId: the last step of the trace that it was kept for
  // By unit and step of the trace: what is released when the unit is left there.
  std::map<std::pair<UnitId, std::int64_t>, std::vector<ParameterId>> releases_;
  std::int64_t live_ = 0;  // elements gathered in this micro-batch and not released
  std::int64_t step_ = 0;  // of the trace
  bool complete_ = false;
};

}  // namespace shardlab
