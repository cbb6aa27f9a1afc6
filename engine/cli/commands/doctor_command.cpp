#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/doctor/doctor_fix.h"
#include "engine/cli/doctor/doctor_job.h"
#include "engine/cli/doctor/doctor_target.h"
#include "engine/doctor/registry.h"
#include "engine/doctor/report/findings_report.h"
#include "engine/doctor/report/rules_report.h"
#include "simulator/remedies/trials.h"

namespace shardlab {
namespace {

class DoctorCommand final : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view help() const override {
    return "What is wrong with a job, by its scenario, its run or its log, and what to do";
  }
  std::string_view details() const override {
    return "TARGET is a scenario, a stored run as `shardlab show` names it, or a log (- is standard input); "
           "a\n"
           "scenario or run and a log together are one case. With --fix, targets that name rules choose "
           "whose\n"
           "fixes are applied. Exits with 1 where something is wrong, with 0 where nothing is.";
  }

  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("target", targets_, "What to look at").type("TARGET").count(0, 64);
    as_given_ = parser.value("--as", as_, "What the targets are, where their content does not say it")
                    .one_of(all_words<DoctorTarget>());
    parser.value("--ignore", ignored_, "Leave this rule out; its id or a code").type("RULE").repeatable();
    parser.value("--format", format_, "text, json or sarif [text]").one_of({"text", "json", "sarif"});
    parser.flag("--fix", fix_, "Apply the fixes of a scenario or run and write it to the file of -o");
    parser.value("-o,--output", output_, "Where --fix writes").type("FILE");
    parser.flag("--force", force_, "Replace that file");
    parser.flag("--rules", rules_, "List the rules");
    parser.value("--explain", explained_, "Everything about one rule; its id or a code").type("RULE");
    parser.flag("--document", document_, "Print docs/rules.md: every rule");
  }

  Result<int> run(CommandContext& context) override {
    Console& console = context.console;
    if (document_) return print(console, rules_page(), {{"reference", rules_page()}});
    if (rules_) return print(console, rules_text(), rules_json());
    if (!explained_.empty()) {
      SHARDLAB_TRY(const Rule* rule, find_rule(explained_));
      return print(console, rule_text(*rule), rule_json(*rule));
    }
    for (const std::string& rule : ignored_) SHARDLAB_CHECK_OK(find_rule(rule));
    if (targets_.empty())
      return bad_input("doctor", "a target is required",
                       "a log, or - for standard input; --rules lists the rules");
    if (fix_) return write_fix(context);
    SHARDLAB_TRY(const std::vector<Examination> examinations, examine_targets(context.options));
    show(context, examinations);
    return verdict(examinations);
  }

 private:
  static Result<int> print(Console& console, const std::string& text, const Json& json) {
    if (console.json())
      console.print_json(json);
    else
      console.print(text);
    return k_exit_good;
  }

  static int verdict(const std::vector<Examination>& examinations) {
    return std::any_of(examinations.begin(), examinations.end(), is_above_info) ? k_exit_verdict_not_met
                                                                                : k_exit_good;
  }

  Result<DoctorTarget> kind_of(const std::string& target) const {
    if (as_given_.given()) return *parse_word<DoctorTarget>(as_);
    return kind_of_target(target);
  }

  // A log beside a scenario or a run is a case with it; else each target is one of its own.
  Result<std::vector<Examination>> examine_targets(const CommonOptions& options) const {
    std::vector<std::string> jobs, logs;
    for (const std::string& target : targets_) {
      SHARDLAB_TRY(const DoctorTarget kind, kind_of(target));
      (kind == DoctorTarget::log ? logs : jobs).push_back(target);
    }
    std::optional<LogFacts> log;  // that belongs to the job
    std::string log_name;
    if (jobs.size() == 1 && !logs.empty()) {
      log_name = logs.front();
      logs.erase(logs.begin());
      SHARDLAB_TRY(log, read_log(log_name));
    }
    std::vector<Examination> examinations;
    for (const std::string& target : jobs) {
      SHARDLAB_TRY(Examination examination,
                   examine_scenario(target, log ? &*log : nullptr, log_name, options));
      examinations.push_back(std::move(examination));
    }
    for (const std::string& target : logs) {
      SHARDLAB_TRY(const LogFacts facts, read_log(target));
      examinations.push_back(examine_log(facts, target));
    }
    return examinations;
  }

  Examination examine_log(const LogFacts& facts, const std::string& name) const {
    Case known;
    known.source = name;
    known.log = &facts;
    return examine(known, all_rules(), ignored_);
  }

  Result<DoctorJob> job_of(const std::string& target, const CommonOptions& options) const {
    SHARDLAB_TRY(const DoctorTarget kind, kind_of(target));
    return kind == DoctorTarget::run ? job_of_run(target, options) : job_of_scenario(target, options);
  }

  // Mistakes of a scenario are findings, beside those of its log.
  Result<Examination> examine_scenario(const std::string& target, const LogFacts* log,
                                       const std::string& log_name, const CommonOptions& options) const {
    const Result<DoctorJob> job = job_of(target, options);
    if (job) return examine_job(*job, log, log_name, ignored_);
    if (job.error().kind != ErrorKind::bad_input || job.error().code == ErrorCode::no_database)
      return fail(job.error());
    SHARDLAB_TRY(const DoctorTarget kind, kind_of(target));
    if (kind == DoctorTarget::run) return fail(job.error());
    Examination examination = examine_mistakes(target, job.error());
    if (log != nullptr) {
      for (Finding& finding : examine_log(*log, log_name).findings)
        examination.findings.push_back(std::move(finding));
    }
    return examination;
  }

  // With --fix: one target, and rules.
  Result<int> write_fix(CommandContext& context) const {
    if (output_.empty()) return bad_input("--fix", "needs a file to write", "-o FILE");
    std::vector<std::string> jobs, rules;
    for (const std::string& target : targets_) (find_rule(target) ? rules : jobs).push_back(target);
    if (jobs.size() != 1)
      return bad_input("--fix", "takes one scenario or stored run",
                       "and the rules whose fixes are wanted, if not all");
    SHARDLAB_TRY(DoctorJob job, job_of(jobs.front(), context.options));
    const RunSummary before = job.predicted;
    SHARDLAB_TRY(const FixedJob fixed, fix_job(std::move(job), rules, ignored_));
    SHARDLAB_CHECK_OK(write_fixed(fixed, output_, force_));
    CommonOptions as_written = context.options;
    as_written.overrides.clear();
    SHARDLAB_TRY(const DoctorJob written, job_of_scenario(output_, as_written));
    const Examination examination = examine_job(written, nullptr, {}, ignored_);
    const FixReport report{output_, fixed.set, fixed.rules, {cost_of(before), cost_of(written.predicted)}};
    if (context.console.json()) {
      Json document = findings_json({examination});
      document["fixed"] = fix_json(report);
      context.console.print_json(document);
    } else {
      context.console.print(fix_text(report) + "\n" + findings_text({examination}, context.options.verbose));
    }
    return verdict({examination});
  }

  void show(CommandContext& context, const std::vector<Examination>& examinations) const {
    Console& console = context.console;
    if (format_ == "text" && !console.json()) {
      console.print(findings_text(examinations, context.options.verbose));
      return;
    }
    const Json document = format_ == "sarif" ? findings_sarif(examinations) : findings_json(examinations);
    if (console.json())
      console.print_json(document);
    else
      console.print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  std::vector<std::string> targets_, ignored_;
  std::string as_, explained_, output_;
  bool fix_ = false;
  bool force_ = false;
  std::string format_ = "text";
  bool rules_ = false;
  bool document_ = false;
  OptionHandle as_given_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace shardlab
