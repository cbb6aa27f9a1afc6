#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/base/nearest.h"
#include "engine/cli/command.h"
#include "engine/cli/export_report.h"
#include "engine/cli/predict.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/exports/exported_scenario.h"
#include "simulator/exports/made_export.h"

namespace shardlab {
namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const ExportTarget& target : export_targets()) names.emplace_back(target.name);
  return names;
}

class ExportCommand final : public Command {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view help() const override { return "A scenario as files that other tools accept"; }
  std::string_view details() const override {
    return "What a file cannot say is lost: then nothing is written, unless --accept names the setting.\n"
           "What the tool adds, and what the program has to say itself, is told (docs/formats.md).";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenario", scenario_, "Scenario file").type("FILE");
    parser
        .value("--to", target_,
               "accelerate, deepspeed, transformers, transformers-4, torchrun, slurm, script, or all that "
               "can [all]")
        .type("TARGET");
    parser.value("-o,--output", folder_, "Folder of the files [.]").type("DIR");
    parser.value("--accept", accepted_, "Write although this setting is lost").type("KEY").repeatable();
    parser.flag("--print", print_, "Print the files instead of writing them");
    parser.flag("--force", force_, "Replace files that exist");
    parser.flag("--document", document_, "Print docs/formats.md: every key of every target");
    parser.flag("--no-prediction", no_prediction_, "Do not predict what the differences cost");
  }

  Result<int> run(CommandContext& context) override {
    if (document_) return print_reference(context.console);
    if (scenario_.empty())
      return bad_input("export", "scenario is required", "`shardlab export --help` shows how it is used");
    SHARDLAB_TRY(const std::vector<const ExportTarget*> targets, chosen_targets());
    SHARDLAB_TRY(ReadScenario read, read_unbuilt_scenario(scenario_, context.options.overrides));
    SHARDLAB_TRY(const ExportedScenario exported, load_exported_scenario(std::move(read)));
    const CalibrationFor calibration_for = [&context](const Scenario& scenario) {
      return find_calibration_if_any(context.options, scenario);
    };
    SHARDLAB_TRY(const std::vector<MadeExport> exports,
                 make_exports(targets, exported.subject(),
                              no_prediction_ ? WithPrediction::no : WithPrediction::yes, calibration_for));
    SHARDLAB_CHECK_OK(check_refusal(exports, exported.read.source));
    SHARDLAB_TRY(const ExportOutcome outcome, finish(exports));
    for (const std::string& note : notes_on_memory(exports)) context.console.note(note);
    if (context.console.json()) {
      context.console.print_json(exports_json(exports, outcome));
    } else {
      context.console.print(exports_text(exports, outcome, context.console.style()));
    }
    return outcome.missing.empty() ? k_exit_good : k_exit_verdict_not_met;
  }

 private:
  static Result<int> print_reference(Console& console) {
    if (console.json())
      console.print_json({{"reference", export_reference()}});
    else
      console.print(export_reference());
    return k_exit_good;
  }

  Result<std::vector<const ExportTarget*>> chosen_targets() const {
    std::vector<const ExportTarget*> targets;
    if (target_ == "all") {
      for (const ExportTarget& target : export_targets()) targets.push_back(&target);
      return targets;
    }
    if (const ExportTarget* const target = find_export_target(target_)) return std::vector{target};
    const std::string hint = suggestion(target_, target_names());
    return bad_input("--to", fmt::format("unknown target '{}'", target_),
                     hint.empty() ? fmt::format("known: {}, all", fmt::join(target_names(), ", ")) : hint);
  }

  // One target that was asked for must be able to run the scenario, of all of them at least one.
  Status check_refusal(const std::vector<MadeExport>& exports, const ScenarioSource& source) const {
    const bool any = std::any_of(exports.begin(), exports.end(),
                                 [](const MadeExport& made) { return made.refusal.why.empty(); });
    if (any) return {};
    const TargetRefusal& first = exports.front().refusal;
    return bad_input(source.place(first.setting), first.why,
                     "`shardlab export --to all` tries every target; --set changes the scenario");
  }

  // Writes, unless something is lost that nobody accepted.
  Result<ExportOutcome> finish(const std::vector<MadeExport>& exports) const {
    ExportOutcome outcome;
    outcome.print_files = print_;
    for (const MadeExport& made : exports) {
      for (const ExportDifference& difference : made.differences) {
        const auto same = [&](const std::string& key) { return key == difference.setting; };
        if (difference.kind == DifferenceKind::lost &&
            std::none_of(accepted_.begin(), accepted_.end(), same) &&
            std::none_of(outcome.missing.begin(), outcome.missing.end(), same))
          outcome.missing.push_back(difference.setting);
      }
    }
    if (print_ || !outcome.missing.empty()) return outcome;
    SHARDLAB_CHECK_OK(write_exports(exports, folder_, force_));
    outcome.written = true;
    outcome.folder = folder_ == "." ? std::filesystem::path() : folder_;
    return outcome;
  }

  std::string scenario_;
  std::string target_ = "all";
  std::filesystem::path folder_ = ".";
  std::vector<std::string> accepted_;
  bool print_ = false;
  bool force_ = false;
  bool no_prediction_ = false;
  bool document_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command() {
  return std::make_unique<ExportCommand>();
}

}  // namespace shardlab
