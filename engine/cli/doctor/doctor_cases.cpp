#include "engine/cli/doctor/doctor_cases.h"

#include <optional>
#include <utility>

#include "engine/cli/doctor/doctor_files.h"
#include "engine/cli/doctor/doctor_target.h"
#include "engine/doctor/registry.h"

namespace shardlab {
namespace {

using Ignored = std::vector<std::string>;

// The log of a job's case.
struct NamedLog {
  std::string name;
  LogFacts facts;
};

Examination examine_log(const LogFacts& facts, const std::string& name, const Ignored& ignored) {
  Case known;
  known.source = name;
  known.log = &facts;
  return examine(known, all_rules(), ignored);
}

std::size_t count_of_jobs(const CaseRequest& request) {
  return request.scenarios.size() + request.runs.size() + (request.files.empty() ? 0 : 1);
}

BesideJob beside(const std::optional<NamedLog>& log, const ToolFiles* files = nullptr) {
  BesideJob known;
  known.files = files;
  if (log) {
    known.log = &log->facts;
    known.log_name = log->name;
  }
  return known;
}

// Mistakes of a scenario are findings, beside those of its log.
Result<Examination> examine_scenario(const std::string& target, const std::optional<NamedLog>& log,
                                     const Ignored& ignored, const CommonOptions& options) {
  const Result<DoctorJob> job = job_of_scenario(target, options);
  if (job) return examine_job(*job, beside(log), ignored);
  if (job.error().kind != ErrorKind::bad_input || job.error().code == ErrorCode::no_database)
    return fail(job.error());
  Examination examination = examine_mistakes(target, job.error());
  if (log) {
    for (Finding& finding : examine_log(log->facts, log->name, ignored).findings)
      examination.findings.push_back(std::move(finding));
  }
  return examination;
}

Result<Examination> examine_tool_files(const CaseRequest& request, const std::optional<NamedLog>& log,
                                       const CommonOptions& options) {
  SHARDLAB_TRY(const DoctorFiles read, read_doctor_files(request.files, request.onto, options));
  if (read.job) return examine_job(*read.job, beside(log, &read.files), request.ignored);
  Case known;
  known.source = log ? log->name : read.name;
  known.log = log ? &log->facts : nullptr;
  known.files = &read.files;
  return examine(known, all_rules(), request.ignored);
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
    }
  }
  return request;
}

Result<std::vector<Examination>> examine_cases(CaseRequest request, const CommonOptions& options) {
  if (!request.onto.empty() && request.files.empty())
    return bad_input("--onto", "is for files of other tools, and none is given",
                     "a file of accelerate, DeepSpeed or TrainingArguments, or a launch script");
  std::optional<NamedLog> log;  // that belongs to the job
  if (count_of_jobs(request) == 1 && !request.logs.empty()) {
    SHARDLAB_TRY(LogFacts facts, read_log(request.logs.front()));
    log = NamedLog{request.logs.front(), std::move(facts)};
    request.logs.erase(request.logs.begin());
  }
  std::vector<Examination> examinations;
  for (const std::string& target : request.scenarios) {
    SHARDLAB_TRY(examinations.emplace_back(), examine_scenario(target, log, request.ignored, options));
  }
  for (const std::string& target : request.runs) {
    SHARDLAB_TRY(const DoctorJob job, job_of_run(target, options));
    examinations.push_back(examine_job(job, beside(log), request.ignored));
  }
  if (!request.files.empty()) {
    SHARDLAB_TRY(examinations.emplace_back(), examine_tool_files(request, log, options));
  }
  for (const std::string& target : request.logs) {
    SHARDLAB_TRY(const LogFacts facts, read_log(target));
    examinations.push_back(examine_log(facts, target, request.ignored));
  }
  return examinations;
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
