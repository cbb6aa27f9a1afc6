// A planned and predicted scenario as the doctor sees it, the settings that its findings name tried.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/doctor/case.h"
#include "engine/doctor/examine.h"
#include "engine/doctor/job/job_facts.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// `job` must have a plan and a prediction, which was made with `calibration`; `beside` is what else is known
// of its case, a log or dumps. Takes a prediction for every setting that is tried: `is_wanted`, where there
// is one, is asked before each of them, and after it says no what is returned is of no use.
// Errors: what the machine could not do while a setting was tried.
Result<Examination> examine_with_remedies(const JobFacts& job, const Calibration* calibration, Case beside,
                                          const std::vector<std::string>& ignored = {},
                                          const std::function<bool()>& is_wanted = {});

}  // namespace shardlab
