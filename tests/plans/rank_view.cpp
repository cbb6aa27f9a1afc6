#include "tests/plans/rank_view.h"

#include <map>

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include "engine/checkpoint/model_weights.h"
#include "engine/execute/collective_timeout.h"
#include "engine/execute/run_steps.h"
#include "engine/execute/start_ranks.h"
#include "engine/execute/step_scalars.h"
#include "engine/execute/swap_place.h"
#include "engine/execute/training_data.h"
#include "engine/model/join_teacher.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/teacher_scenario.h"
#include "engine/scenario/train_spec.h"
#include "engine/trace/metrics.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

using View = std::string (*)(const PlannedScenario& planned);

template <typename T>
std::string text_of(const Result<T>& result) {
  return result ? "good" : to_string(result.error());
}

std::string weights(const PlannedScenario& planned) {
  const Scenario& scenario = planned.scenario;
  return scenario.model->weights.empty()
             ? "none"
             : text_of(open_model_weights(scenario, parameters_of_student(planned.graph)));
}

std::string weights_of_teacher(const PlannedScenario& planned) {
  const Scenario& scenario = planned.scenario;
  return scenario.distillation->teacher.model->weights.empty()
             ? "none"
             : text_of(open_model_weights(teacher_scenario(scenario), parameters_of_teacher(planned.graph)));
}

// After six good steps, two that overflow with two good ones between them, and more good ones.
std::string loss_scales(const PlannedScenario& planned) {
  LossScale scale(planned.scenario);
  std::vector<float> values{scale.value()};
  for (int step = 0; step < 4100; ++step) {
    if (!scale.update(step == 6 || step == 9)) break;
    values.push_back(scale.value());
  }
  return fmt::format("{}", fmt::join(values, " "));
}

std::string learning_rates(const PlannedScenario& planned) {
  std::vector<double> rates;
  for (int step = 0; step < 20; ++step)
    rates.push_back(learning_rate(*planned.scenario.train, step, steps_of_run(planned.scenario)));
  return fmt::format("{}", fmt::join(rates, " "));
}

std::string tokens(const PlannedScenario& planned) {
  Result<TrainingData> data = TrainingData::open(planned.scenario, planned.graph.vocabulary);
  if (!data) return to_string(data.error());
  const auto count = static_cast<std::size_t>(planned.graph.micro_batch * planned.graph.sequence_length);
  std::vector<std::int64_t> tokens(count), targets(count);
  REQUIRE_OK(data->load(0, 0, 0, tokens, targets));
  return fmt::format("{}", fmt::join(tokens, " "));
}

std::string environment(const PlannedScenario& planned) {
  const RankJob job = job_of(JobKind::train, planned.scenario, {});
  return fmt::format("{}", variables_of_rank(planned.scenario, job, {}));
}

std::string drive(const PlannedScenario& planned) {
  const SwapOptions options = swap_options(planned.scenario, "run", 0);
  return fmt::format("{} {}", options.path, options.queue_depth);
}

std::string timeouts(const PlannedScenario& planned) {
  return fmt::format("{} {}", collective_timeout(planned.scenario), arrival_timeout(planned.scenario));
}

std::string master(const PlannedScenario& planned) {
  const Result<RankEnvironment> first = meeting_place(planned.scenario);
  return first ? first->master_address : to_string(first.error());
}

std::string accepted_launcher(const PlannedScenario& planned) {
  RankEnvironment started;
  started.world = world_size(planned.scenario);
  started.launcher = Launcher::mpirun;
  return text_of(check_launcher(planned.scenario, started));
}

std::string measured_steps(const PlannedScenario& planned) {
  return fmt::format("{} to {}", warmup_steps(planned), steps_of_run(planned.scenario));
}

std::string verdicts(const PlannedScenario& planned) {
  RunSummary predicted, measured;
  predicted.step_time.median = milliseconds(100);
  measured.step_time.median = milliseconds(130);
  std::string text;
  for (const Metric& metric : summary_metrics(predicted, measured, planned.scenario.measure->tolerance))
    text += fmt::format("{} {} ", metric.name, to_string(metric.verdict));
  return text;
}

const std::map<std::string, View>& views() {
  static const std::map<std::string, View> all{
      {"model.weights", weights},
      {"distillation.teacher.weights", weights_of_teacher},
      {"scaler.initial_scale", loss_scales},
      {"scaler.growth", loss_scales},
      {"scaler.backoff", loss_scales},
      {"scaler.interval", loss_scales},
      {"scaler.dynamic", loss_scales},
      {"scaler.hysteresis", loss_scales},
      {"scaler.consecutive_hysteresis", loss_scales},
      {"scaler.minimum", loss_scales},
      {"train.learning_rate", learning_rates},
      {"train.schedule.kind", learning_rates},
      {"train.schedule.warmup_steps", learning_rates},
      {"train.schedule.total_steps", learning_rates},
      {"train.seed", tokens},
      {"train.data", tokens},
      {"train.order", tokens},
      {"cluster.nvme.path", drive},
      {"offload.aio.queue_depth", drive},
      {"launch.timeout", timeouts},
      {"launch.env", environment},
      {"launch.master", master},
      {"launch.interface", environment},
      {"launch.launcher", accepted_launcher},
      {"measure.warmup_steps", measured_steps},
      {"measure.steps", measured_steps},
      {"measure.tolerance", verdicts},
  };
  return all;
}

}  // namespace

std::string what_a_rank_obeys(const std::string& key, const PlannedScenario& planned) {
  const auto view = views().find(key);
  if (view == views().end()) FAIL("nothing in tests/plans/rank_view.cpp looks at " << key);
  return view->second(planned);
}

}  // namespace shardlab::test
