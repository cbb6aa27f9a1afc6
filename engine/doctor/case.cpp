#include "engine/doctor/case.h"

#include "engine/doctor/job/job_facts.h"

namespace shardlab {

bool has(const Case& facts, Need need) {
  switch (need) {
    case Need::log: return facts.log != nullptr;
    case Need::flight: return facts.flight != nullptr;
    case Need::configuration: return facts.job != nullptr;
    case Need::files: return facts.files != nullptr;
    case Need::plan: return facts.job != nullptr && facts.job->planned != nullptr;
    case Need::prediction: return facts.job != nullptr && facts.job->predicted != nullptr;
    case Need::measurement: return facts.job != nullptr && facts.job->measured != nullptr;
    case Need::program: return facts.program != nullptr;
    case Need::environment: return facts.machines != nullptr;
  }
  return false;
}

std::string_view why_missing(Need need) {
  switch (need) {
    case Need::configuration: return "needs a scenario";
    case Need::files: return "needs the files of a tool";
    case Need::plan: return "needs a plan";
    case Need::prediction: return "needs a prediction";
    case Need::measurement: return "needs a measured run";
    case Need::environment: return "needs what a machine says of itself";
    case Need::program: return "needs the source of a program";
    case Need::log: return "needs a log";
    case Need::flight: return "needs dumps of a flight recorder";
  }
  return "needs what is not at hand";
}

}  // namespace shardlab
