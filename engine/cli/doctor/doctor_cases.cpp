#include "engine/cli/doctor/doctor_cases.h"

#include <optional>
#include <utility>

#include "engine/cli/doctor/case_beside.h"
#include "engine/cli/doctor/doctor_files.h"
#include "engine/cli/doctor/doctor_target.h"
#include "engine/doctor/registry.h"

namespace shardlab {
namespace {

using Ignored = std::vector<std::string>;

std::size_t count_of_jobs(const CaseRequest& request) {
  return request.scenarios.size() + request.runs.size() + (request.files.empty() ? 0 : 1);
}

// A case without a job.
Examination examine_beside(const CaseBeside& beside, const ToolFiles* files, std::string source,
                           const Ignored& ignored) {
  Case known;
  known.source = beside.log ? beside.log_name : std::move(source);
  known.log = beside.log ? &*beside.log : nullptr;
  known.flight = beside.flight ? &*beside.flight : nullptr;
  known.files = files;
  known.machines = beside.machines;
  known.program = beside.program ? &*beside.program : nullptr;
  return examine(known, all_rules(), ignored);
}

// Mistakes of a scenario are findings, beside those of its log.
Result<Examination> examine_scenario(const std::string& target, const CaseBeside& known,
                                     const Ignored& ignored, const CommonOptions& options) {
  const Result<DoctorJob> job = job_of_scenario(target, options);
  if (job) return examine_job(*job, beside_job(known), ignored);
  if (!is_mistake(job.error())) return fail(job.error());
  Examination examination = examine_mistakes(target, job.error());
  if (!known.is_empty()) {
    for (Finding& finding : examine_beside(known, nullptr, target, ignored).findings)
      examination.findings.push_back(std::move(finding));
  }
  return examination;
}

Result<Examination> examine_tool_files(const CaseRequest& request, const CaseBeside& known,
                                       const CommonOptions& options) {
  SHARDLAB_TRY(const DoctorFiles read, read_doctor_files(request.files, request.onto, options));
  if (read.job) return examine_job(*read.job, beside_job(known, &read.files), request.ignored);
  return examine_beside(known, &read.files, read.name, request.ignored);
}

}  // namespace

Result<CaseRequest> sort_targets(const std::vector<std::string>& targets, const std::string& as) {
  CaseRequest request;
  for (const std::string& target : targets) {
    const auto given = parse_word<DoctorTarget>(as);
    SHARDLAB_TRY(const DoctorTarget kind, given ? Result<DoctorTarget>(*given) : kind_of_target(target));
    switch (kind) {
      case DoctorTarget::scenario: request.scenarios.push_back(target); break;
      case DoctorTarget::run: request.runs.push_back(target); break;
      case DoctorTarget::files: request.files.push_back(target); break;
      case DoctorTarget::log: request.logs.push_back(target); break;
      case DoctorTarget::flight: request.flight.push_back(target); break;
      case DoctorTarget::program: request.programs.push_back(target); break;
    }
  }
  return request;
}

Result<std::vector<Examination>> examine_cases(CaseRequest request, const CommonOptions& options) {
  if (!request.onto.empty() && request.files.empty())
    return bad_input("--onto", "is for files of other tools, and none is given",
                     "a file of accelerate, DeepSpeed or TrainingArguments, or a launch script");
  const std::size_t jobs = count_of_jobs(request);
  const bool has_others = !request.flight.empty() || !request.programs.empty() || request.machines != nullptr;
  const bool is_one_case = jobs == 1 || (jobs == 0 && has_others);
  const std::string log = is_one_case && !request.logs.empty() ? request.logs.front() : "";
  if (!log.empty()) request.logs.erase(request.logs.begin());
  SHARDLAB_TRY(CaseBeside known, read_beside(log, request.flight, request.programs));
  known.machines = request.machines;
  std::vector<Examination> examinations;
  for (const std::string& target : request.scenarios) {
    SHARDLAB_TRY(examinations.emplace_back(), examine_scenario(target, known, request.ignored, options));
  }
  for (const std::string& target : request.runs) {
    SHARDLAB_TRY(const DoctorJob job, job_of_run(target, options));
    SHARDLAB_TRY(examinations.emplace_back(), examine_job(job, beside_job(known), request.ignored));
  }
  if (!request.files.empty()) {
    SHARDLAB_TRY(examinations.emplace_back(), examine_tool_files(request, known, options));
  }
  if (jobs != 1 && has_others) {
    const std::string name = !request.flight.empty()     ? request.flight.front()
                             : !request.programs.empty() ? request.programs.front()
                                                         : known.machines->front().source;
    examinations.push_back(examine_beside(known, nullptr, name, request.ignored));
  }
  for (const std::string& target : request.logs) {
    SHARDLAB_TRY(LogFacts facts, read_log(target));
    examinations.push_back(
        examine_beside({std::move(facts), target, {}, nullptr}, nullptr, target, request.ignored));
  }
  return examinations;
}

Result<CaseBeside> beside_to_fix(const CaseRequest& request) {
  if (request.logs.size() > 1)
    return bad_input("--fix", "takes one log", "each log is a case with the scenario: one after the other");
  return read_beside(request.logs.empty() ? "" : request.logs.front(), request.flight, request.programs);
}

Result<DoctorJob> job_to_fix(const CaseRequest& request, const CommonOptions& options) {
  if (count_of_jobs(request) != 1)
    return bad_input("--fix", "takes one scenario, stored run, or the files of one training",
                     "and the rules whose fixes are wanted, if not all");
  if (!request.scenarios.empty()) return job_of_scenario(request.scenarios.front(), options);
  if (!request.runs.empty()) return job_of_run(request.runs.front(), options);
  SHARDLAB_TRY(DoctorFiles read, read_doctor_files(request.files, request.onto, options));
  if (read.job) return *std::move(read.job);
  if (!read.files.faults.empty())
    return bad_input(in_file(read.name), "has mistakes that come before any fix",
                     "`shardlab doctor` without --fix lists them");
  return bad_input(in_file(read.name), read.files.not_planned, read.files.to_plan);
}

}  // namespace shardlab
