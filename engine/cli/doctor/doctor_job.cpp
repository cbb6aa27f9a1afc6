#include "engine/cli/doctor/doctor_job.h"

#include <filesystem>
#include <utility>

#include "engine/base/yaml.h"
#include "engine/cli/predict.h"
#include "engine/cli/stored_runs.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/validate.h"
#include "simulator/remedies/examine_with_remedies.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

Status predict_job(DoctorJob& job) {
  const auto& calibration = job.calibration;
  SHARDLAB_TRY(job.planned, plan_scenario(job.read.scenario));
  SHARDLAB_TRY(job.device, resolve_device(*job.planned.scenario.cluster));
  SHARDLAB_TRY(job.trace, simulate({job.planned, job.device, calibration ? &*calibration : nullptr}));
  SHARDLAB_TRY(job.predicted, summarize_run(job.planned, job.trace));
  return {};
}

JobFacts facts_of_job(const DoctorJob& job) {
  return {.scenario = &job.planned.scenario,
          .source = &job.read.source,
          .device = &job.device,
          .planned = &job.planned,
          .predicted = &job.predicted,
          .trace = &job.trace,
          .measured = job.measured ? &*job.measured : nullptr,
          .measured_trace = job.measured_trace ? &*job.measured_trace : nullptr};
}

}  // namespace

Result<DoctorJob> job_of_scenario(const std::string& file, const CommonOptions& options) {
  SHARDLAB_TRY(ReadScenario read, read_scenario_with_source(file, options.overrides));
  return job_of_read(std::move(read), options);
}

Result<DoctorJob> job_of_read(ReadScenario read, const CommonOptions& options) {
  DoctorJob job;
  job.read = std::move(read);
  SHARDLAB_TRY(job.calibration, find_calibration_if_any(options, job.read.scenario));
  SHARDLAB_CHECK_OK(predict_job(job));
  return job;
}

Result<DoctorJob> job_of_run(const std::string& reference, const CommonOptions& options) {
  const Result<RunStore> opened = open_runs(options);
  if (!opened && opened.error().code == ErrorCode::no_database)
    return bad_input(in_file(reference), "there is no such file, and no stored runs",
                     "give a scenario, a log, or - for standard input");
  if (!opened) return fail(opened.error());
  const RunStore& store = *opened;
  SHARDLAB_TRY(const RunId id, store.find(reference));
  SHARDLAB_TRY(RunRecord run, store.load(id));
  const auto tree = parse_yaml(run.scenario_yaml, to_string(id));
  if (tree && tree->is_null())
    return not_possible(to_string(id), "has no scenario that could be examined", "it is an imported trace");
  DoctorJob job;
  SHARDLAB_TRY(job.read, parse_scenario_with_source(run.scenario_yaml, to_string(id), options.overrides));
  SHARDLAB_TRY(job.calibration, find_calibration(store, job.read.scenario));
  SHARDLAB_CHECK_OK(predict_job(job));
  if (run.summary.kind == RunKind::measured) {
    job.measured = std::move(run.summary);
    job.measured_trace = std::move(run.trace);
  }
  return job;
}

Result<DoctorJob> job_with(const DoctorJob& job, const std::vector<std::string>& settings) {
  DoctorJob changed;
  const std::filesystem::path beside = std::filesystem::path(job.read.scenario.directory) / "fixed.yaml";
  SHARDLAB_TRY(changed.read,
               parse_scenario_with_source(write_scenario(job.planned.scenario), beside.string(), settings));
  changed.read.source.keep_comments(job.read.source.comments());
  SHARDLAB_CHECK_OK(check_supported(changed.read.scenario, changed.read.source));
  changed.calibration = job.calibration;
  SHARDLAB_CHECK_OK(predict_job(changed));
  return changed;
}

Result<Examination> examine_job(const DoctorJob& job, const BesideJob& beside,
                                const std::vector<std::string>& ignored) {
  const JobFacts facts = facts_of_job(job);
  Case known;
  known.source = beside.log == nullptr ? job.read.source.file() : beside.log_name;
  known.log = beside.log;
  known.files = beside.files;
  known.flight = beside.flight;
  known.machines = beside.machines;
  known.program = beside.program;
  return examine_with_remedies(facts, job.calibration ? &*job.calibration : nullptr, known, ignored);
}

}  // namespace shardlab
