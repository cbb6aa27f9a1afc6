#include "simulator/search/question/limits_as_needs.h"

#include <algorithm>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

template <typename T>
void bound(std::optional<T>& need, std::optional<T> limit) {
  if (limit) need = need ? std::min(*need, *limit) : *limit;
}

void add_metric(const char* metric, MetricUnit unit, std::int64_t most, Needs& needs) {
  MetricNeed need;
  need.metric = metric;
  need.unit = unit;
  need.most = static_cast<double>(most);
  needs.metrics.push_back(std::move(need));
}

void take_objective(Objective objective, SearchQuestion& question, QuestionReader& reader) {
  switch (objective) {
    case Objective::tokens_per_second:
    case Objective::step_time: question.objective = SearchObjective::time; return;
    case Objective::price: question.objective = SearchObjective::money; return;
    case Objective::memory:
      reader.refuse(in_file(question.base.file), "limits.objective", "no search makes memory the least",
                    "name one here: objective: time; the front shows what less memory costs");
      return;
  }
}

}  // namespace

void take_limits(SearchQuestion& question, bool objective_given, QuestionReader& reader) {
  const LimitsSpec limits = *question.base.scenario.limits;
  if (limits == LimitsSpec()) return;
  Needs& needs = question.needs;
  bound(needs.gpus, limits.gpus ? std::optional<std::int64_t>(*limits.gpus) : std::nullopt);
  bound(needs.dollars_per_hour, limits.price);
  if (limits.step_time) add_metric("step_time", MetricUnit::nanoseconds, limits.step_time->value, needs);
  if (limits.memory) {
    const bool on_gpus = question.base.scenario.cluster->device != DeviceKind::cpu;
    add_metric(on_gpus ? "peak_device" : "peak_allocated", MetricUnit::bytes, limits.memory->value, needs);
  }
  if (limits.objective && !objective_given) take_objective(*limits.objective, question, reader);
  question.base.overrides.emplace_back("limits={}");
  *question.base.scenario.limits = LimitsSpec();
}

}  // namespace shardlab
