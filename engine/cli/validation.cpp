#include "engine/cli/validation.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/measure.h"
#include "engine/cli/predict.h"
#include "engine/cli/progress_line.h"
#include "engine/cli/run_calibration.h"
#include "engine/cli/spool_folder.h"
#include "engine/report/json.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/trace/metrics.h"
#include "simulator/calibrate/calibrate.h"

namespace shardlab {
namespace {

// What everything here happens with.
struct Means {
  RankTeam* team;
  RunStore& store;
  Console& console;
};

// What belongs to GPUs is measured on all nodes where the ranks are there.
std::string cluster_to_calibrate(const ClusterSpec& cluster, const RankTeam* team) {
  return cluster_text(cluster, team != nullptr ? cluster.nodes : 1);
}

Result<Calibration> calibrate_now(const PlannedScenario& planned, const Means& means) {
  return run_calibration({cluster_to_calibrate(*planned.scenario.cluster, means.team), &planned, means.team},
                         means.store, means.console);
}

Result<std::optional<Calibration>> calibration_for(const PlannedScenario& planned, bool calibrate,
                                                   const Means& means) {
  SHARDLAB_TRY(std::optional<Calibration> known, find_calibration(means.store, planned.scenario));
  const ClusterSpec& cluster = *planned.scenario.cluster;
  if (known || !calibrate) return known;
  if (cluster.device == DeviceKind::cpu) {
    means.console.note(fmt::format(
        "no calibration of this machine for {} x {} thread{} in {}: calibrating first", cluster.ranks,
        cluster.threads_per_rank, cluster.threads_per_rank == 1 ? "" : "s", means.store.path().string()));
  }
  SHARDLAB_TRY(Calibration made, calibrate_now(planned, means));
  // Said afterwards: where there is no such GPU, that is all there is to say.
  if (cluster.device != DeviceKind::cpu)
    means.console.note(
        fmt::format("there was no calibration of {}: it was measured first", made.machine.gpu));
  return std::optional<Calibration>(std::move(made));
}

Result<std::optional<Slowdown>> slowdown_now(const PlannedScenario& planned, const Calibration& calibration,
                                             const Means& means) {
  SHARDLAB_TRY(SpoolFolder folder, SpoolFolder::make({}, means.team));
  LaunchOptions launch;
  SHARDLAB_TRY(launch.rank_program, rank_program(false));
  launch.run_directory = folder.path();
  launch.team = means.team;
  ProgressLine line(means.console);
  line.show("asking whether the calibration holds");
  Result<std::optional<Slowdown>> slowdown = measure_slowdown(calibration, *planned.scenario.cluster, launch);
  line.clear();
  if (!slowdown && slowdown.error().kind == ErrorKind::run_failed) folder.keep();  // the error names it
  return slowdown;
}

struct Preparation {
  std::optional<Calibration> calibration;
  std::optional<Slowdown> slowdown;  // absent where it is not to be asked, or cannot be told
};

// A calibration that holds now, where one may be made: a second one helps against a load that stays, none
// against one that comes and goes.
Result<Preparation> prepare(const PlannedScenario& planned, bool calibrate, const Means& means) {
  SHARDLAB_TRY(std::optional<Calibration> calibration, calibration_for(planned, calibrate, means));
  if (!calibrate || !calibration || planned.scenario.cluster->device != DeviceKind::cpu)
    return Preparation{std::move(calibration), {}};
  SHARDLAB_TRY(std::optional<Slowdown> slowdown, slowdown_now(planned, *calibration, means));
  if (!slowdown || still_holds(*slowdown)) return Preparation{std::move(calibration), slowdown};
  means.console.note(fmt::format("the calibration of {} does not hold now ({}): calibrating again",
                                 calibration->when, slowdown_words(worst_of(*slowdown))));
  SHARDLAB_TRY(calibration, calibrate_now(planned, means));
  SHARDLAB_TRY(slowdown, slowdown_now(planned, *calibration, means));
  return Preparation{std::move(calibration), slowdown};
}

int processors_needed(const ClusterSpec& cluster) {
  return cluster.ranks * cluster.threads_per_rank;
}

// The processor times of this machine, with the other ranks' processes counted as its own.
std::optional<ProcessorTimes> times_now(const RankTeam* team) {
  std::optional<ProcessorTimes> times = processor_times();
  if (times && team != nullptr) times->own += team->own_time_of_others();
  return times;
}

// The run between two readings of the processors' clocks; on GPUs the run alone.
Result<std::optional<FinishedRun>> measure_watched(const PlannedScenario& planned, MachineState& machine,
                                                   const Means& means) {
  MeasureOptions options;
  options.team = means.team;
  if (planned.scenario.cluster->device != DeviceKind::cpu)
    return measure(planned, options, means.store, means.console);
  machine.needed = processors_needed(*planned.scenario.cluster);
  const std::optional<ProcessorTimes> before = times_now(means.team);
  SHARDLAB_TRY(std::optional<FinishedRun> run, measure(planned, options, means.store, means.console));
  const std::optional<ProcessorTimes> after = times_now(means.team);
  if (before && after) machine.use = use_between(*before, *after);
  return run;
}

Json machine_json(const MachineState& machine) {
  const auto groups = [](const std::optional<Slowdown>& slowdown) -> Json {
    if (!slowdown) return nullptr;
    Json json = Json::object();
    for (const GroupSlowdown& each : *slowdown) json[std::string(to_string(each.group))] = each.factor;
    return json;
  };
  const auto& use = machine.use;
  return {{"slowdown_before", groups(machine.slowdown_before)},
          {"slowdown_after", groups(machine.slowdown_after)},
          {"processors", use ? Json(use->processors) : Json()},
          {"own_processors", use ? Json(use->own) : Json()},
          {"others_processors", use ? Json(use->others) : Json()}};
}

}  // namespace

Result<Validation> validate(const PlannedScenario& planned, bool calibrate, RankTeam* team, RunStore& store,
                            Console& console) {
  const Means means{team, store, console};
  SHARDLAB_CHECK_OK(check_measurable(planned.scenario));
  SHARDLAB_TRY(const Preparation prepared, prepare(planned, calibrate, means));
  SHARDLAB_TRY(FinishedRun predicted, predict(planned, prepared.calibration, &store));
  announce(console, predicted);
  MachineState machine;
  machine.slowdown_before = prepared.slowdown;
  SHARDLAB_TRY(std::optional<FinishedRun> measured, measure_watched(planned, machine, means));
  if (!measured) return internal_error("validate", "a rank without a team");
  if (prepared.slowdown) {
    SHARDLAB_TRY(machine.slowdown_after, slowdown_now(planned, *prepared.calibration, means));
  }
  SHARDLAB_TRY(Comparison comparison,
               compare(planned.plan.steady, {predicted.summary, predicted.trace},
                       {measured->summary, measured->trace}, planned.scenario.measure->tolerance));
  const std::string why = why_times_are_not_judged(machine);
  if (!why.empty()) {
    leave_times_unjudged(comparison, why);
    SHARDLAB_CHECK_OK(store.set_times_not_judged(*measured->id, why));
  }
  SHARDLAB_CHECK_OK(store.save_comparison(*predicted.id, *measured->id, comparison));
  return Validation{planned.scenario.name, std::move(predicted), *std::move(measured),
                    std::move(comparison), planned.plan.steady,  machine};
}

Json validation_json(const Validation& validation) {
  Json document = {{"scenario", validation.scenario}};
  document.update(comparison_json(validation.comparison,
                                  run_json(validation.predicted.summary, validation.predicted.id),
                                  run_json(validation.measured.summary, validation.measured.id)));
  document["machine"] = machine_json(validation.machine);
  return document;
}

}  // namespace shardlab
