#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/doctor/baseline_file.h"
#include "engine/cli/doctor/doctor_cases.h"
#include "engine/cli/doctor/doctor_fix.h"
#include "engine/cli/doctor/doctor_job.h"
#include "engine/cli/doctor/doctor_machines.h"
#include "engine/cli/doctor/doctor_target.h"
#include "engine/cli/doctor/fixed_scenario_file.h"
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
    return "TARGET is a scenario, a stored run as `shardlab show` names it, the files of one training for\n"
           "accelerate, DeepSpeed or transformers (or the script that launches it), a log (- is standard\n"
           "input), dumps of torch's flight recorder (files, or their folder), or the program (.py files).\n"
           "A log beside one of the others is one case with it, and so are dumps and programs. With --fix,\n"
           "targets that name rules choose whose fixes are applied. --machine looks at the machine, under\n"
           "torchrun or srun at that of every rank, before a job runs there. Exits with 1 where\n"
           "something is wrong, with 0 where nothing is.";
  }

  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("target", targets_, "What to look at").type("TARGET").count(0, 64);
    parser.value("--as", as_, "What the targets are, where their content does not say it")
        .one_of(all_words<DoctorTarget>());
    parser.value("--onto", onto_, "Scenario that says what files of other tools do not: model, cluster")
        .type("S");
    parser.value("--ignore", ignored_, "Leave this rule out; its id or a code").type("RULE").repeatable();
    parser.value("--baseline", baseline_.known, "Leave out the findings that this file has").type("FILE");
    parser.value("--write-baseline", baseline_.written, "Write what is found there, as known from now on")
        .type("FILE");
    parser.value("--format", format_, "text, json or sarif [text]").one_of({"text", "json", "sarif"});
    parser.flag("--machine", machines_.here, "Look at this machine; under a launcher at those of all ranks");
    parser.value("--record", machines_.record, "Where --machine keeps what it saw").type("FOLDER");
    parser.value("--from", machines_.from, "Look at the machines that were recorded there").type("FOLDER");
    parser.flag("--fix", fix_,
                "Apply the fixes of a scenario, a run or files of a tool, and write the file of -o");
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
    if (targets_.empty() && !machines_.is_asked())
      return bad_input("doctor", "a target is required",
                       "a log, or - for standard input; --machine; --rules lists the rules");
    if (fix_ && baseline_.are_named())
      return bad_input("--fix", "knows no baseline",
                       "targets that name rules choose whose fixes are applied");
    if (fix_ && machines_.is_asked())
      return bad_input("--fix", "changes a scenario, and no machine", "without --machine and --from");
    if (fix_) return write_fix(context);
    return with_machines(machines_, console,
                         [&](const Machines* machines) { return examine_targets(context, machines); });
  }

 private:
  Result<int> examine_targets(CommandContext& context, const Machines* machines) const {
    SHARDLAB_TRY(CaseRequest request, sort_targets(targets_, as_));
    request.machines = machines;
    request.onto = onto_;
    request.ignored = ignored_;
    SHARDLAB_TRY(std::vector<Examination> examinations, examine_cases(request, context.options));
    SHARDLAB_TRY(const std::optional<std::size_t> written, use_baseline(baseline_, examinations));
    show(context, examinations, request.scenarios);
    if (!written) return verdict(examinations);
    context.console.note(fmt::format("{} has {} finding{} that {} known from now on", baseline_.written,
                                     *written, *written == 1 ? "" : "s", *written == 1 ? "is" : "are"));
    return k_exit_good;
  }

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

  // With --fix: one target, and rules.
  Result<int> write_fix(CommandContext& context) const {
    if (output_.empty()) return bad_input("--fix", "needs a file to write", "-o FILE");
    std::vector<std::string> jobs, rules;
    for (const std::string& target : targets_) (find_rule(target) ? rules : jobs).push_back(target);
    SHARDLAB_TRY(CaseRequest request, sort_targets(jobs, as_));
    request.onto = onto_;
    SHARDLAB_TRY(DoctorJob job, job_to_fix(request, context.options));
    SHARDLAB_TRY(const CaseBeside beside, beside_to_fix(request));
    const RunSummary before = job.predicted;
    SHARDLAB_TRY(const FixedJob fixed, fix_job(std::move(job), beside_job(beside), rules, ignored_));
    const bool is_of_file = !request.scenarios.empty() && context.options.overrides.empty();
    SHARDLAB_CHECK_OK(write_fixed(fixed, is_of_file ? request.scenarios.front() : "", output_, force_));
    CommonOptions as_written = context.options;
    as_written.overrides.clear();
    SHARDLAB_TRY(const DoctorJob written, job_of_scenario(output_, as_written));
    SHARDLAB_TRY(const Examination examination, examine_job(written, {}, ignored_));
    const Effect effect{cost_of(before), cost_of(written.predicted)};
    const FixReport report{output_, fixed.set, fixed.rules, effect, beside.log_name, fixed.left};
    if (context.console.json()) {
      Json document = findings_json({examination});
      document["fixed"] = fix_json(report);
      context.console.print_json(document);
    } else {
      context.console.print(fix_text(report) + "\n" + findings_text({examination}, context.options.verbose));
    }
    const bool is_mended = fixed.left.empty() && written.predicted.fits != Fit::no;
    return is_mended ? verdict({examination}) : k_exit_verdict_not_met;
  }

  // Fixes are changes of the scenario's file: of the only one, or of the one that was examined.
  static FixedFileOf fixed_files(const std::vector<std::string>& scenarios) {
    return [&scenarios](const Examination& examination, const Finding& finding) -> std::optional<FixedFile> {
      if (scenarios.size() == 1) return fixed_file(scenarios.front(), finding);
      const auto known = std::find(scenarios.begin(), scenarios.end(), examination.source);
      return known == scenarios.end() ? std::nullopt : fixed_file(*known, finding);
    };
  }

  void show(CommandContext& context, const std::vector<Examination>& examinations,
            const std::vector<std::string>& scenarios) const {
    Console& console = context.console;
    if (format_ == "text" && !console.json()) {
      console.print(findings_text(examinations, context.options.verbose));
      return;
    }
    const Json document = format_ == "sarif" ? findings_sarif(examinations, fixed_files(scenarios))
                                             : findings_json(examinations);
    if (console.json())
      console.print_json(document);
    else
      console.print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  std::vector<std::string> targets_, ignored_;
  std::string as_, onto_, explained_, output_;
  MachineRequest machines_;
  BaselineFiles baseline_;
  bool fix_ = false;
  bool force_ = false;
  std::string format_ = "text";
  bool rules_ = false;
  bool document_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace shardlab
