// What stands beside a job, or is looked at without one: a log, dumps, machines, a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/doctor/doctor_job.h"

namespace shardlab {

struct CaseBeside {
  std::optional<LogFacts> log;
  std::string log_name;
  std::optional<std::vector<FlightDump>> flight;
  const std::vector<MachineFacts>* machines = nullptr;
  std::optional<TrainingProgram> program = {};

  bool is_empty() const { return !log && !flight && machines == nullptr && !program; }
};

// A log, dumps and programs, read; absent where there are none (`log`: an empty name). Errors: those of
// reading them.
Result<CaseBeside> read_beside(const std::string& log, const std::vector<std::string>& flight,
                               const std::vector<std::string>& programs);

// The same for examine_job(); points into `known`, which must live as long as it.
BesideJob beside_job(const CaseBeside& known, const ToolFiles* files = nullptr);

}  // namespace shardlab
