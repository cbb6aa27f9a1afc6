#include "engine/cli/imports/log_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/cli/stored_runs.h"
#include "engine/formats/logs/measured_log.h"
#include "engine/formats/logs/read_training_log.h"
#include "engine/plan/imported_plan.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/figures.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/cluster_words.h"
#include "engine/scenario/paths/repeatable_scenario.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

std::string note_of(const LogRequest& request, const TrainingLog& log) {
  const std::string remarks = remarks_of(log);
  const std::size_t others = request.files.size() - 1;
  const std::string more =
      others == 0 ? std::string() : fmt::format(" and {} other{}", others, others == 1 ? "" : "s");
  return fmt::format("from {}{}: {}{}", request.files.front().string(), more, fmt::join(log.programs, ", "),
                     remarks.empty() ? "" : "; " + remarks);
}

// A plan in which nothing is known but how many ranks there were.
RunPlan plan_of_nothing(int ranks) {
  StepPlan nothing;
  nothing.strategy = "log";
  nothing.graph_hash = std::string(k_imported_graph);
  nothing.world_size = ranks;
  nothing.passes = {"imported"};
  RunPlan plan{nothing, nothing, std::nullopt, nothing};
  plan.setup.phase = PlanPhase::setup;
  plan.first.phase = PlanPhase::first;
  return plan;
}

std::int64_t samples_per_step(const PlannedScenario& planned) {
  return tokens_per_step(planned) / std::max<std::int64_t>(planned.graph.sequence_length, 1);
}

std::vector<std::string> contradictions_of(const PlannedScenario& planned, const TrainingLog& log,
                                           const RunSummary& by_scenario) {
  std::vector<std::string> found;
  const int ranks = planned.plan.steady.world_size;
  if (log.world_size && *log.world_size != ranks)
    found.push_back(fmt::format("the log is of {} ranks, the scenario of {}", *log.world_size, ranks));
  const std::int64_t samples = samples_per_step(planned);
  if (log.samples_per_step && *log.samples_per_step != samples)
    found.push_back(
        fmt::format("a step of the log has {} samples, of the scenario {}", *log.samples_per_step, samples));
  const double a_rank = by_scenario.tokens_per_second_per_gpu;
  const double logged = log.tokens_per_second_of_rank.value_or(log.tokens_per_second.value_or(0) / ranks);
  constexpr double k_clearly = 0.1;
  if (a_rank > 0 && logged > 0 && std::abs(logged / a_rank - 1) > k_clearly)
    found.push_back(
        fmt::format("the log tells {} tokens per second of a rank; the scenario's tokens in its "
                    "step time are {}",
                    rate(logged), rate(a_rank)));
  return found;
}

Status add_limit(const PlannedScenario& planned, RunSummary& summary) {
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  const std::optional<Bytes>& given = planned.scenario.cluster->memory_limit;
  summary.memory_limit = given ? given : limits.memory;
  if (!summary.memory || !summary.memory_limit) return {};
  const Bytes peak =
      std::max(summary.memory->peak_allocated, summary.memory->peak_reserved.value_or(Bytes{}));
  summary.fits = judge_fit(peak, {}, *summary.memory_limit);
  return {};
}

Status add_scenario(const PlannedScenario& planned, const TrainingLog& log, LogRun& run) {
  RunRecord& record = run.record;
  record.name = planned.scenario.name;
  SHARDLAB_TRY(record.machine, cluster_words(*planned.scenario.cluster));
  record.scenario_yaml = repeatable_scenario(planned.scenario);
  record.plan = planned.plan;
  record.summary.plan_hash = plan_hash(planned.plan.steady);
  record.summary.ranks = planned.plan.steady.world_size;
  SHARDLAB_CHECK_OK(add_limit(planned, record.summary));
  if (record.summary.step_time.n > 0) SHARDLAB_CHECK_OK(add_known_rates(planned, record.summary));
  run.contradictions = contradictions_of(planned, log, record.summary);
  record.times_not_judged = fmt::format("{}", fmt::join(run.contradictions, "; "));
  return {};
}

// What only a run without a scenario lacks.
void forget_known(std::vector<std::string>& leaves_out) {
  std::erase_if(leaves_out,
                [](const std::string& each) { return each == k_lacks_tokens || each == k_lacks_ranks; });
}

}  // namespace

Result<LogRun> run_of_log(const LogRequest& request) {
  std::optional<PlannedScenario> planned;
  if (!request.onto.empty()) {
    SHARDLAB_TRY(const Scenario scenario, read_scenario(request.onto, request.overrides));
    SHARDLAB_TRY(planned, plan_scenario(scenario));
  }
  SHARDLAB_TRY(
      const TrainingLog log,
      read_training_logs(request.files, planned ? std::optional(samples_per_step(*planned)) : std::nullopt));
  LogRun run;
  RunRecord& record = run.record;
  record.tags = {"imported"};
  record.note = note_of(request, log);
  record.summary = summary_of(log);
  record.trace.provenance = provenance_of(log);
  record.trace.losses = record.summary.losses;
  record.trace.gradient_norms = record.summary.gradient_norms;
  if (planned) {
    SHARDLAB_CHECK_OK(add_scenario(*planned, log, run));
    forget_known(record.summary.leaves_out);
    forget_known(record.trace.provenance.leaves_out);
    return run;
  }
  record.name = request.files.front().stem().string();
  record.machine = record.trace.provenance.machine;
  record.scenario_yaml = "# imported: there is no scenario\n";
  record.plan = plan_of_nothing(record.summary.ranks);
  record.summary.plan_hash = plan_hash(record.plan.steady);
  return run;
}

}  // namespace shardlab
