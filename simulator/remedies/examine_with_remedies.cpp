#include "simulator/remedies/examine_with_remedies.h"

#include "engine/doctor/registry.h"
#include "simulator/remedies/try_remedies.h"

namespace shardlab {

Result<Examination> examine_with_remedies(const JobFacts& job, const Calibration* calibration, Case beside,
                                          const std::vector<std::string>& ignored,
                                          const std::function<bool()>& is_wanted) {
  beside.job = &job;
  Trials trials(*job.planned, *job.predicted, calibration, Trials::k_most, is_wanted);
  Examination examination = examine(beside, all_rules(), ignored,
                                    [&](std::vector<Finding>& findings) { try_remedies(findings, trials); });
  if (trials.trouble()) return fail(*trials.trouble());
  return examination;
}

}  // namespace shardlab
