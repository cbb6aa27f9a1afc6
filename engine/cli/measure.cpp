#include "engine/cli/measure.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"
#include "engine/base/paths.h"
#include "engine/cli/doctor/failed_run.h"
#include "engine/cli/progress_line.h"
#include "engine/cli/rank_libraries.h"
#include "engine/cli/spool_folder.h"
#include "engine/execute/launch.h"
#include "engine/execute/training_data.h"
#include "engine/model/operators/operator_type.h"
#include "engine/report/summarize.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {

namespace {

std::string progress_text(const RunProgress& progress) {
  const std::string loss = progress.loss ? fmt::format("   loss {:.4f}", *progress.loss) : "";
  return fmt::format("training   step {} of {}{}", progress.steps_done, progress.steps, loss);
}

Json progress_event(const RunProgress& progress, std::int64_t tokens) {
  Json fields = {{"steps_done", progress.steps_done}, {"steps", progress.steps}};
  fields["loss"] = progress.loss ? Json(*progress.loss) : Json();
  fields["step_time_ns"] = progress.duration ? Json(progress.duration->value) : Json();
  fields["tokens_per_second"] =
      progress.duration && progress.duration->value > 0
          ? Json(static_cast<double>(tokens) * 1e9 / static_cast<double>(progress.duration->value))
          : Json();
  fields["peak_bytes"] = progress.peak ? Json(progress.peak->value) : Json();
  return fields;
}

Result<std::optional<RunTrace>> launch(const PlannedScenario& planned, const LaunchOptions& options,
                                       const std::optional<RankEnvironment>& joined) {
  if (joined) return run_as_rank(planned, options, *joined);
  SHARDLAB_TRY(RunTrace trace, launch_run(planned, options));
  return std::optional<RunTrace>(std::move(trace));
}

// Times of a machine that others use too are no measurement of the plan.
void note_when_unsteady(Console& console, const StepTimeSummary& time) {
  constexpr double k_usual_spread = 1.5;
  if (static_cast<double>(time.max.value) < k_usual_spread * static_cast<double>(time.median.value)) return;
  console.note(fmt::format("note: the measured steps took {} to {}: is something else using this machine?",
                           to_string(time.min), to_string(time.max)));
}

// Checks before a long run that a file can be written after it: its folder is there, and nothing but a file
// is replaced.
Status check_output(const char* option, const std::filesystem::path& file) {
  if (file.empty()) return {};
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(file, ignored).parent_path();
  if (!std::filesystem::is_directory(folder, ignored))
    return bad_input(option, fmt::format("there is no folder {}", folder.string()), "make it first");
  SHARDLAB_CHECK_OK(replaceable_file(file));
  return {};
}

// A run that memory ended is a result: predictions are validated against it as well.
Error with_stored_result(const PlannedScenario& planned, const std::filesystem::path& run_directory,
                         RunStore& store, Console& console, Error error) {
  const std::optional<OutOfMemory> ended = find_out_of_memory(planned, run_directory);
  if (!ended) return error;
  const auto run =
      finish_out_of_memory(planned, provenance_of_unfinished(planned, run_directory), *ended, store);
  if (!run) {
    error.hint += "; the result could not be stored: " + to_string(run.error());
    return error;
  }
  announce(console, *run);
  if (run->id) error.hint += "; stored as " + to_string(*run->id);
  return error;
}

// The training is over and may have taken days: what the ranks wrote outlives the database's trouble.
Error with_kept_run(const std::filesystem::path& folder, Error error) {
  if (!error.hint.empty()) error.hint += "; ";
  error.hint += fmt::format("the run itself is kept: `shardlab import {}` stores it", folder.string());
  return error;
}

}  // namespace

Status check_measurable(const Scenario& scenario) {
  SHARDLAB_TRY(const auto joined, one_of_several(current_environment()));
  if (joined) return {};
  SHARDLAB_CHECK_OK(check_starts_here(scenario));
  if (scenario.cluster->device == DeviceKind::cpu || scenario.cluster->nodes == 1) return {};
  return not_possible("cluster",
                      fmt::format("this is one machine, and the scenario asks for {} with {} GPUs each",
                                  scenario.cluster->nodes, scenario.cluster->gpus_per_node),
                      "start it on them with torchrun, srun or mpirun; `shardlab simulate` predicts it here");
}

Status check_inputs(const PlannedScenario& planned, const MeasureOptions& options) {
  SHARDLAB_CHECK_OK(TrainingData::open(planned.scenario, planned.graph.vocabulary));
  if (!options.extras.memory_snapshot.empty() && planned.scenario.cluster->device == DeviceKind::cpu) {
    return not_possible("--memory-snapshot", "only the allocator of a GPU keeps a history",
                        "`shardlab trace` has the measured memory of this run, instruction by instruction");
  }
  SHARDLAB_CHECK_OK(check_output("--save-weights", options.extras.save_weights));
  SHARDLAB_CHECK_OK(check_output("--memory-snapshot", options.extras.memory_snapshot));
  if (options.extras.save_load.empty()) return {};
  if (!has_experts(planned.graph)) return bad_input("--save-load", "this model has no experts");
  return check_output("--save-load", options.extras.save_load);
}

Result<std::optional<FinishedRun>> measure(const PlannedScenario& planned, const MeasureOptions& options,
                                           RunStore& store, Console& console) {
  console.keep_diagnosis(std::nullopt);  // that of an earlier run
  SHARDLAB_CHECK_OK(check_measurable(planned.scenario));
  SHARDLAB_TRY(auto joined, one_of_several(current_environment()));
  if (options.team != nullptr) joined.reset();
  SHARDLAB_TRY(SpoolFolder folder, joined ? SpoolFolder::make(options.keep_spool, joined)
                                          : SpoolFolder::make(options.keep_spool, options.team));
  ProgressLine line(console);
  LaunchOptions launch_options;
  SHARDLAB_TRY(launch_options.rank_program,
               rank_program(planned.scenario.cluster->device != DeviceKind::cpu));
  launch_options.run_directory = folder.path();
  launch_options.extras = options.extras;
  launch_options.team = options.team;
  launch_options.progress = [&line, &console,
                             tokens = tokens_per_step(planned)](const RunProgress& progress) {
    line.show(progress_text(progress));
    console.event("training", progress_event(progress, tokens));
  };

  Result<std::optional<RunTrace>> trace = launch(planned, launch_options, joined);
  line.clear();
  if (!trace) {
    // The error names it, or says that it can be stored later.
    if (trace.error().kind == ErrorKind::run_failed || is_of_the_machine(trace.error())) folder.keep();
    if (trace.error().kind == ErrorKind::run_failed)
      console.keep_diagnosis(diagnose_failed_run(folder.path(), trace.error()));
    return fail(with_stored_result(planned, folder.path(), store, console, std::move(trace).error()));
  }
  if (!*trace) {
    folder.keep();  // rank 0 reads it and removes it
    return std::optional<FinishedRun>();
  }
  Result<FinishedRun> run = finish_run(planned, std::move(**trace), &store);
  if (!run) return fail(with_kept_run(folder.keep(), std::move(run).error()));
  announce(console, *run);
  note_when_unsteady(console, run->summary.step_time);
  return std::optional<FinishedRun>(*std::move(run));
}

namespace {

namespace fs = std::filesystem;

Result<fs::path> built_program(bool on_gpus) {
  std::error_code ignored;
  const fs::path for_gpus = program_folder() / "shardlab-rank-cuda";
  if (on_gpus && fs::exists(for_gpus, ignored)) return for_gpus;
  const fs::path program = program_folder() / "shardlab-rank";
  if (fs::exists(program, ignored)) return program;
  return not_possible(
      in_file(program.string()), "there is no shardlab-rank, which runs one rank of a real run",
      "in the source tree `./run.sh run` builds it, and so does cmake's target shardlab-rank; "
      "of the packages only Debian's leaves it out");
}

}  // namespace

Result<fs::path> rank_program(bool on_gpus) {
  SHARDLAB_TRY(fs::path program, built_program(on_gpus));
  SHARDLAB_CHECK_OK(take_libtorch_of_environment());
  SHARDLAB_TRY(const std::vector<std::string> missing, missing_libraries(program));
  if (missing.empty()) return program;
  return not_possible(
      in_file(program.string()), fmt::format("not found: {}", fmt::join(missing, ", ")),
      fmt::format(
          "real runs load the libtorch of torch {0}; where it moved or came from elsewhere (pip install "
          "torch=={0}), say where: export SHARDLAB_TORCH_DIR=$(python3 -c 'import torch; "
          "print(torch.__path__[0])')",
          torch_version()));
}

}  // namespace shardlab
