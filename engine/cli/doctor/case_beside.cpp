#include "engine/cli/doctor/case_beside.h"

#include "engine/cli/doctor/doctor_target.h"

namespace shardlab {

Result<CaseBeside> read_beside(const std::string& log, const std::vector<std::string>& flight,
                               const std::vector<std::string>& programs) {
  CaseBeside known;
  known.log_name = log;
  if (!log.empty()) {
    SHARDLAB_TRY(known.log, read_log(log));
  }
  if (!flight.empty()) {
    SHARDLAB_TRY(known.flight, read_flight_dumps(flight));
  }
  if (!programs.empty()) {
    SHARDLAB_TRY(known.program, read_programs(programs));
  }
  return known;
}

BesideJob beside_job(const CaseBeside& known, const ToolFiles* files) {
  BesideJob beside;
  beside.files = files;
  if (known.log) beside.log = &*known.log;
  beside.log_name = known.log_name;
  if (known.flight) beside.flight = &*known.flight;
  beside.machines = known.machines;
  if (known.program) beside.program = &*known.program;
  return beside;
}

}  // namespace shardlab
