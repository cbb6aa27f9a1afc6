// A scenario or a stored run as the doctor looks at it: planned, predicted, its remedies tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cli/command_options.h"
#include "engine/doctor/examine.h"
#include "engine/doctor/examine_mistakes.h"
#include "engine/doctor/files/tool_files.h"
#include "engine/doctor/flight/flight_dump.h"
#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/program/program_facts.h"
#include "engine/hardware/device.h"
#include "engine/machine/machine_facts.h"
#include "engine/plan/planned_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct DoctorJob {
  ReadScenario read;
  Device device;
  PlannedScenario planned;
  std::optional<Calibration> calibration;
  RunTrace trace;
  RunSummary predicted;
  std::optional<RunSummary> measured;
  std::optional<RunTrace> measured_trace;
};

// A scenario file with the overrides of the options, planned and predicted as `simulate` does it. Errors:
// the mistakes of the scenario (examine_mistakes() makes findings of them), and what cannot be predicted.
Result<DoctorJob> job_of_scenario(const std::string& file, const CommonOptions& options);

// The same of a scenario that was read.
Result<DoctorJob> job_of_read(ReadScenario read, const CommonOptions& options);

// A stored run, by whatever `show` takes; its scenario is predicted again with what is known now, and beside
// it stands what was measured.
Result<DoctorJob> job_of_run(const std::string& reference, const CommonOptions& options);

// The same job with settings changed. Errors: those of planning it, and of settings that are not built yet.
Result<DoctorJob> job_with(const DoctorJob& job, const std::vector<std::string>& settings);

// What else is known of the job's case; null: nothing.
struct BesideJob {
  const LogFacts* log = nullptr;
  std::string log_name;
  const ToolFiles* files = nullptr;
  const std::vector<FlightDump>* flight = nullptr;
  const std::vector<MachineFacts>* machines = nullptr;
  const TrainingProgram* program = nullptr;
};

// Errors of examine_with_remedies().
Result<Examination> examine_job(const DoctorJob& job, const BesideJob& beside,
                                const std::vector<std::string>& ignored);

}  // namespace shardlab
