#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/words.h"
#include "engine/cli/command.h"
#include "engine/cli/predict.h"
#include "engine/cli/stored_runs.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/explain_memory/explained_memory.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/alternatives/memory_savings.h"

namespace shardlab {
namespace {

enum class Explained : std::uint8_t { memory };

}  // namespace

template <>
inline constexpr auto k_words<Explained> = std::to_array<Word<Explained>>({{Explained::memory, "memory"}});

namespace {

class ExplainCommand final : public Command {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view help() const override {
    return "What a predicted peak of memory is made of, and what would lower it";
  }
  std::string_view details() const override {
    return "Every setting that is listed was predicted with the rest of the scenario as it is. Nothing is "
           "stored.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("what", what_, "What to explain: memory").type("memory");
    parser.value("scenario", scenario_, "Scenario file").type("FILE");
    parser.flag("--no-calibration", no_calibration_,
                "Shipped figures, even when this machine was calibrated");
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_CHECK_OK(check_arguments());
    SHARDLAB_TRY(const Scenario scenario, read_scenario(scenario_, context.options.overrides));
    SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
    std::optional<Calibration> calibration;
    if (!no_calibration_) {
      SHARDLAB_TRY(calibration, find_calibration_if_any(context.options, planned.scenario));
    }
    SHARDLAB_TRY(const FinishedRun run, predict(planned, calibration, nullptr));
    note_when_too_large(context.console, run.summary);
    const ExplainedMemory explained =
        explain_memory(planned, plan_at_peak(planned.plan, run.summary), run.summary,
                       predict_savings(planned, run.summary, calibration ? &*calibration : nullptr));
    if (context.console.json()) {
      context.console.print_json(explained_memory_json(explained));
    } else {
      context.console.print(explained_memory_text(explained, context.console.style()));
    }
    return k_exit_good;
  }

 private:
  // Which things can be explained is said before a file is asked for.
  Status check_arguments() const {
    if (!parse_word<Explained>(what_))
      return bad_input("explain",
                       what_.empty() ? "what is to be explained is missing"
                                     : fmt::format("'{}' cannot be explained", what_),
                       fmt::format("what can: {}", fmt::join(all_words<Explained>(), ", ")));
    if (scenario_.empty())
      return bad_input("explain " + what_, "scenario is required",
                       "`shardlab explain --help` shows how it is used");
    return {};
  }

  std::string what_, scenario_;
  bool no_calibration_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace shardlab
