#include "engine/strategies/zero3/parameter_coordinator.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace shardlab {
namespace {

constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::min();

std::vector<TraceEvent> entries_of(std::vector<TraceEvent> events) {
  std::erase_if(events, [](const TraceEvent& event) { return event.leaves; });
  return events;
}

}  // namespace

ParameterCoordinator::ParameterCoordinator(const ModelGraph& graph, const Partition& partition,
                                           const ModuleReads& reads, const ZeroOptions& options,
                                           const std::vector<TraceEvent>& events, bool starts_whole)
    : graph_(graph),
      partition_(partition),
      options_(options),
      reads_(reads),
      trace_(entries_of(events)),
      readers_(graph.parameters.size()),
      kept_for_(partition.units.size()),
      persistent_(graph.parameters.size()),
      available_(graph.parameters.size()),
      looked_at_(graph.parameters.size()) {
  for (const Unit& unit : partition.units) {
    if (reads.is_leaf(unit.modules.front())) continue;
    for (const ParameterId parameter : graph.module(unit.modules.front()).looks_at)
      looked_at_[parameter.index()] = true;
  }
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::int64_t size = elements(make_id<ParameterId>(i));
    persistent_[i] =
        size <= options.param_persistence_threshold && kept + size <= options.model_persistence_threshold;
    if (persistent_[i]) kept += size;
  }
  decide_releases(events, starts_whole);
}

// A rehearsal of the first micro-batch with a trace.
void ParameterCoordinator::decide_releases(const std::vector<TraceEvent>& events, bool starts_whole) {
  if (starts_whole) available_ = persistent_;
  begin(true);
  for (const TraceEvent& event : events) {
    if (event.leaves) {
      release(*event.unit, event.pass);
    } else if (event.unit) {
      fetch(*event.unit, event.pass);
    } else {
      pass_by();
    }
  }
  release_all();
}

void ParameterCoordinator::begin(bool trace_is_complete) {
  complete_ = trace_is_complete;
  step_ = live_ = 0;
  fetched_for_.assign(graph_.parameters.size(), k_never);
  queue_.clear();
  for (std::size_t i = 0; complete_ && i < trace_.size(); ++i) {
    if (!trace_[i].unit) continue;
    for (const ParameterId parameter : parameters(*trace_[i].unit))
      queue_.push_back({parameter, static_cast<std::int64_t>(i)});
  }
}

// Marks those that have to be gathered, and drops the others from the list.
void ParameterCoordinator::take(std::vector<ParameterId>& parameters) {
  std::erase_if(parameters, [&](ParameterId parameter) { return available_[parameter.index()]; });
  std::sort(parameters.begin(), parameters.end());
  for (const ParameterId parameter : parameters) {
    available_[parameter.index()] = true;
    live_ += elements(parameter);
  }
}

ParameterCoordinator::Fetch ParameterCoordinator::fetch(UnitId unit, TracePass pass) {
  Fetch fetch;
  const bool knows_all = complete_ || pass != TracePass::forward || reads_.is_leaf(unit);
  fetch.now = knows_all ? parameters(unit) : graph_.module(partition_.unit(unit).modules.front()).parameters;
  for (const ParameterId parameter : fetch.now) readers_[parameter.index()].push_back(unit);
  if (pass == TracePass::backward) in_backward_.push_back(unit);
  if (pass == TracePass::recomputation) keep_for_backward(unit);
  take(fetch.now);
  if (!knows_all) take_asked_for(fetch);
  if (complete_) {
    skip_own(unit);
    if (options_.prefetch_bucket_size > 0) fetch.ahead = look_ahead();
  }
  ++step_;
  return fetch;
}

// What DeepSpeed meets in the first forward as an attribute of a module it gathers by param.all_gather().
void ParameterCoordinator::take_asked_for(Fetch& fetch) {
  for (const ParameterId parameter : fetch.now) {
    if (looked_at_[parameter.index()]) fetch.asked_for.push_back(parameter);
  }
  std::erase_if(fetch.now, [&](ParameterId parameter) { return looked_at_[parameter.index()]; });
}

std::vector<ParameterId> ParameterCoordinator::pass_by() {
  std::vector<ParameterId> ahead;
  if (complete_ && options_.prefetch_bucket_size > 0) ahead = look_ahead();
  ++step_;
  return ahead;
}

// The uses of this very module leave the queue, unless an earlier look ahead has passed them.
void ParameterCoordinator::skip_own(UnitId unit) {
  std::size_t own = 0;
  for (const ParameterId parameter : parameters(unit)) own += fetched_for(parameter) < step_ ? 1 : 0;
  for (; own > 0 && !queue_.empty(); --own) {
    fetched_for(queue_.front().parameter) = queue_.front().step;
    queue_.pop_front();
  }
}

std::vector<ParameterId> ParameterCoordinator::look_ahead() {
  const std::int64_t most = std::min(options_.max_live_parameters - live_, options_.prefetch_bucket_size);
  std::vector<ParameterId> ahead;
  for (std::int64_t found = 0; !queue_.empty() && found < most; queue_.pop_front()) {
    const Use& use = queue_.front();
    fetched_for(use.parameter) = std::max(fetched_for(use.parameter), use.step);
    const bool known = std::find(ahead.begin(), ahead.end(), use.parameter) != ahead.end();
    if (known || available_[use.parameter.index()]) continue;
    ahead.push_back(use.parameter);
    found += elements(use.parameter);
  }
  take(ahead);
  return ahead;
}

// What the look ahead has passed would never be gathered again; and what is used again within
// stage3_max_reuse_distance elements of the trace stays. Whether the module that is left is a leaf decides
// what DeepSpeed takes the others of the trace to use (__params_to_release): then with all that is below
// them, a whole layer as it is entered; else without, of a leaf nothing.
bool ParameterCoordinator::is_used_again_soon(ParameterId parameter, bool by_leaf) const {
  if (fetched_for_[parameter.index()] > step_) return true;
  std::int64_t passed = 0;
  for (auto i = static_cast<std::size_t>(step_); i < trace_.size(); ++i) {
    if (passed >= options_.max_reuse_distance) break;
    const ModuleId module = trace_[i].module;
    for (const ParameterId other : by_leaf ? reads_.of_all_below(module) : reads_.of(module)) {
      if (other == parameter) return true;
      passed += elements(other);
    }
  }
  return false;
}

std::vector<ParameterId> ParameterCoordinator::release(UnitId unit, TracePass pass) {
  std::vector<ParameterId> released;
  leave(unit);
  if (pass == TracePass::backward) released = release_kept_for(unit);
  if (!complete_) {
    for (const ParameterId parameter : parameters(unit)) drop(parameter, released);
    return released;
  }
  const auto [decided, fresh] = releases_.try_emplace({unit, step_});
  for (const ParameterId parameter : parameters(unit)) {
    if (fresh && !is_persistent(parameter) && !is_used_again_soon(parameter, reads_.is_leaf(unit)))
      decided->second.push_back(parameter);
  }
  for (const ParameterId parameter : decided->second) drop(parameter, released);
  return released;
}

void ParameterCoordinator::leave(UnitId unit) {
  for (const ParameterId parameter : parameters(unit)) std::erase(readers_[parameter.index()], unit);
}

void ParameterCoordinator::keep_for_backward(UnitId unit) {
  const UnitId owner = in_backward_.empty() ? Partition::root() : in_backward_.back();
  for (const ParameterId parameter : parameters(unit)) {
    if (graph_.parameter(parameter).requires_grad) continue;
    kept_for_[owner.index()].push_back(parameter);
    readers_[parameter.index()].push_back(owner);
  }
}

std::vector<ParameterId> ParameterCoordinator::release_kept_for(UnitId owner) {
  std::vector<ParameterId> released;
  std::erase(in_backward_, owner);
  for (const ParameterId parameter : std::exchange(kept_for_[owner.index()], {})) {
    std::erase(readers_[parameter.index()], owner);
    if (!is_persistent(parameter)) drop(parameter, released);
  }
  return released;
}

std::vector<ParameterId> ParameterCoordinator::release_leftovers() {
  std::vector<ParameterId> released;
  const auto add = [&](const std::vector<ParameterId>& more) {
    released.insert(released.end(), more.begin(), more.end());
  };
  while (!in_backward_.empty()) {
    const UnitId unit = in_backward_.back();
    leave(unit);
    add(release_kept_for(unit));
    for (const ParameterId parameter : parameters(unit)) {
      if (!is_persistent(parameter)) drop(parameter, released);
    }
  }
  add(release_kept_for(Partition::root()));
  return released;
}

void ParameterCoordinator::drop(ParameterId parameter, std::vector<ParameterId>& released) {
  if (!available_[parameter.index()] || !readers_[parameter.index()].empty()) return;
  available_[parameter.index()] = false;
  live_ -= elements(parameter);
  released.push_back(parameter);
}

std::vector<ParameterId> ParameterCoordinator::release_all() {
  std::vector<ParameterId> released;
  for (std::size_t i = 0; i < available_.size(); ++i) {
    if (available_[i]) released.push_back(make_id<ParameterId>(i));
  }
  available_.assign(available_.size(), false);
  for (std::vector<UnitId>& readers : readers_) readers.clear();
  for (std::vector<ParameterId>& kept : kept_for_) kept.clear();
  in_backward_.clear();
  return released;
}

}  // namespace shardlab
