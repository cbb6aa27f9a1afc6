#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/lessons/explain_word.h"
#include "engine/cli/predict.h"
#include "engine/cli/stored_runs.h"
#include "engine/lessons/word_list.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/explain_memory/explained_memory.h"
#include "engine/report/explain_time/explained_time.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/alternatives/memory_savings.h"
#include "simulator/alternatives/time_savings.h"

namespace shardlab {
namespace {

constexpr std::string_view k_memory = "memory", k_time = "time";

class ExplainCommand final : public Command {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view help() const override {
    return "What a predicted step or its peak of memory is made of, or what a word of the field means";
  }
  std::string_view details() const override {
    return "memory SCENARIO, time SCENARIO: every setting that is listed was predicted with the rest of the\n"
           "scenario as it is. The rows of a step are its critical path.\n"
           "WORD: what it means, the smallest plan that shows it and the lessons about it. Nothing is "
           "stored.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("what", what_, "memory SCENARIO, time SCENARIO, or a word of docs/glossary.md")
        .type("WORD")
        .count(0, 8);
    parser.flag("--document", document_, "Print docs/glossary.md: every word");
    parser.flag("--no-calibration", no_calibration_,
                "Shipped figures, even when this machine was calibrated");
  }

  Result<int> run(CommandContext& context) override {
    if (document_ && !what_.empty())
      return bad_input("--document", "prints every word", "leave out what is to be explained");
    if (document_) return print_glossary(context.console);
    if (what_.empty())
      return bad_input("explain", "what is to be explained is missing",
                       "`shardlab explain memory SCENARIO`, `shardlab explain time SCENARIO`, or a word of "
                       "docs/glossary.md");
    if (what_.front() != k_memory && what_.front() != k_time) return print_word(context);
    if (what_.size() != 2)
      return bad_input("explain " + what_.front(),
                       what_.size() < 2 ? "scenario is required" : "takes one scenario",
                       "`shardlab explain --help` shows how it is used");
    return what_.front() == k_memory ? print_memory(context) : print_time(context);
  }

 private:
  static Result<int> print_glossary(Console& console) {
    SHARDLAB_TRY(const lessons::Glossary glossary, lessons::shipped_glossary());
    const std::string page = lessons::glossary_page(glossary);
    if (console.json())
      console.print_json({{"reference", page}});
    else
      console.print(page);
    return k_exit_good;
  }

  // Words are asked for without quotes as well: explain global batch.
  Result<int> print_word(const CommandContext& context) const {
    Console& console = context.console;
    if (!context.options.overrides.empty() || no_calibration_)
      return bad_input("explain", "a word has no settings", "leave --set and --no-calibration out");
    SHARDLAB_TRY(const lessons::ExplainedWord explained,
                 explain_word(fmt::format("{}", fmt::join(what_, " ")), console.style()));
    if (console.json())
      console.print_json(explained_word_json(explained));
    else
      console.print(explained_word_text(explained, console.style()));
    return k_exit_good;
  }

  // A scenario's plan and its prediction.
  struct Predicted {
    PlannedScenario planned;
    std::optional<Calibration> calibration;
    FinishedRun run;

    const Calibration* calibrated() const { return calibration ? &*calibration : nullptr; }
  };
  Result<Predicted> predicted(const CommandContext& context, std::vector<std::string> settings) const {
    const auto& overrides = context.options.overrides;
    settings.insert(settings.begin(), overrides.begin(), overrides.end());
    SHARDLAB_TRY(const Scenario scenario, read_scenario(what_.back(), settings));
    SHARDLAB_TRY(PlannedScenario planned, plan_scenario(scenario));
    std::optional<Calibration> calibration;
    if (!no_calibration_) {
      SHARDLAB_TRY(calibration, find_calibration_if_any(context.options, planned.scenario));
    }
    SHARDLAB_TRY(FinishedRun run, predict(planned, calibration, nullptr));
    note_when_too_large(context.console, run.summary);
    return Predicted{std::move(planned), std::move(calibration), std::move(run)};
  }

  Result<int> print_memory(const CommandContext& context) const {
    SHARDLAB_TRY(const Predicted made, predicted(context, {}));
    const RunSummary& run = made.run.summary;
    SHARDLAB_TRY(std::vector<MemorySaving> savings, predict_savings(made.planned, run, made.calibrated()));
    const ExplainedMemory explained =
        explain_memory(made.planned, plan_at_peak(made.planned.plan, run), run, std::move(savings));
    if (context.console.json()) {
      context.console.print_json(explained_memory_json(explained));
    } else {
      context.console.print(explained_memory_text(explained, context.console.style()));
    }
    return k_exit_good;
  }

  Result<int> print_time(const CommandContext& context) const {
    SHARDLAB_TRY(const Predicted made, predicted(context, {"measure.detail=operators"}));
    SHARDLAB_TRY(std::vector<TimeSaving> savings,
                 predict_time_savings(made.planned, made.run.summary, made.calibrated()));
    const ExplainedTime explained =
        explain_time(made.planned, made.run.summary, made.run.trace, std::move(savings));
    if (context.console.json()) {
      context.console.print_json(explained_time_json(explained));
    } else {
      context.console.print(explained_time_text(explained, context.console.style()));
    }
    return k_exit_good;
  }

  std::vector<std::string> what_;
  bool document_ = false;
  bool no_calibration_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace shardlab
