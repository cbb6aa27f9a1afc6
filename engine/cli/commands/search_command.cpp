#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"
#include "engine/base/words.h"
#include "engine/cli/command.h"
#include "engine/cli/search/search_for.h"
#include "simulator/search/report/search_report.h"

namespace shardlab {
namespace {

class SearchCommand final : public Command {
 public:
  std::string_view name() const override { return "search"; }
  std::string_view help() const override { return "Best configurations under needs, on what can be rented"; }
  std::string_view details() const override {
    return "FILE names a scenario and says what varies and what must hold (docs/search.md). What is "
           "simulated is\n"
           "kept beside it, so that the same command goes on where another ended. Exit code 1: nothing "
           "satisfies.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    add_search_options(parser, settings_);
    parser.value("--why", why_, "Also why these settings are not the answer; laid upon it")
        .type("KEY=VALUE,...");
    parser.value("--largest", settings_.largest, "Only the configuration with the largest value of a key")
        .type("KEY");
    parser.value("--fewest", fewest_, "Only the configuration with the fewest").type("gpus").one_of({"gpus"});
    parser.value("--csv", csv_, "Also every configuration that was simulated, as CSV").type("FILE");
  }

  Result<int> run(CommandContext& context) override {
    settings_.fewest_gpus = !fewest_.empty();
    if (!why_.empty()) {
      SHARDLAB_TRY(settings_.why, split_settings(why_));
    }
    return search_for(context, settings_,
                      [&](const SearchReport& report) { return show(context.console, report); });
  }

 private:
  Result<int> show(Console& console, const SearchReport& report) const {
    if (!csv_.empty()) SHARDLAB_CHECK_OK(write_output_file(csv_, search_csv(report)));
    if (console.json())
      console.print_json(search_json(report));
    else
      console.print(search_text(report, console.style()));
    return report.result.answers.empty() ? k_exit_verdict_not_met : k_exit_good;
  }

  SearchSettings settings_;
  std::string why_, fewest_, csv_;
};

class RecommendCommand final : public Command {
 public:
  std::string_view name() const override { return "recommend"; }
  std::string_view help() const override { return "One configuration an objective, with reasons and risk"; }
  std::string_view details() const override {
    return "Searches as `search` does. Of what predictions cannot tell from the best the nearest to the\n"
           "scenario is recommended; -o writes the one for the file's objective as a scenario.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    add_search_options(parser, settings_);
    parser.value("-o,--output", output_, "Write the scenario there").type("FILE");
  }

  Result<int> run(CommandContext& context) override {
    settings_.recommends = true;
    return search_for(context, settings_,
                      [&](const SearchReport& report) { return show(context.console, report); });
  }

 private:
  Result<int> show(Console& console, const SearchReport& report) const {
    const Leader* const leader = leader_of(report);
    if (!output_.empty() && leader != nullptr) SHARDLAB_CHECK_OK(write_recommended(report, *leader, output_));
    if (console.json())
      console.print_json(search_json(report));
    else
      console.print(recommendation_text(report, console.style()));
    if (leader == nullptr) return k_exit_verdict_not_met;
    if (!output_.empty()) console.note(fmt::format("wrote {}", output_));
    return k_exit_good;
  }

  SearchSettings settings_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_search_command() {
  return std::make_unique<SearchCommand>();
}

std::unique_ptr<Command> make_recommend_command() {
  return std::make_unique<RecommendCommand>();
}

}  // namespace shardlab
