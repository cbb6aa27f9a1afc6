#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

class ScenarioCommand final : public Command {
 public:
  std::string_view name() const override { return "scenario"; }
  std::string_view help() const override {
    return "Checks a scenario file; writes it in normal form; documents the keys";
  }
  CommonUse uses() const override { return {.overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenario", scenario_, "Scenario file").type("FILE");
    parser.flag("--write", write_, "Print the scenario in normal form: only what differs from the defaults");
    parser.flag("--document", document_, "Print the reference of all keys, in Markdown");
  }

  Result<int> run(CommandContext& context) override {
    if (document_) return print_reference(context.console);
    if (scenario_.empty()) return bad_input("shardlab scenario", "scenario is required", "or --document");
    SHARDLAB_TRY(const Scenario scenario, read_scenario(scenario_, context.options.overrides));
    const std::string yaml = write_scenario(scenario);
    if (write_)
      context.console.print(yaml);
    else
      context.console.print(fmt::format("{}: good ({}, {} on {} rank{})\n", scenario_, scenario.name,
                                        strategy_name(scenario), world_size(scenario),
                                        world_size(scenario) == 1 ? "" : "s"));
    if (context.console.json()) {
      context.console.print_json({{"name", scenario.name},
                                  {"strategy", strategy_name(scenario)},
                                  {"ranks", world_size(scenario)},
                                  {"normalised", yaml}});
    }
    return k_exit_good;
  }

 private:
  static Result<int> print_reference(Console& console) {
    if (console.json())
      console.print_json({{"reference", scenario_reference()}});
    else
      console.print(scenario_reference());
    return k_exit_good;
  }

  std::string scenario_;
  bool write_ = false;
  bool document_ = false;
};

}  // namespace

std::unique_ptr<Command> make_scenario_command() {
  return std::make_unique<ScenarioCommand>();
}

}  // namespace shardlab
