#include <nlohmann/json.hpp>

#include "engine/base/nearest.h"
#include "engine/cli/command.h"
#include "engine/cli/stored_runs.h"
#include "engine/report/json.h"
#include "engine/report/tables.h"

namespace shardlab {
namespace {

class HistoryCommand final : public Command {
 public:
  std::string_view name() const override { return "history"; }
  std::string_view help() const override { return "Stored runs, newest first"; }
  CommonUse uses() const override { return {.database = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("--kind", kind_, "predicted or measured");
    parser.value("--name", filter_.name, "Of the scenario");
    parser.value("--tag", filter_.tag, "Runs that carry this tag");
    parser.value("--plan", filter_.plan_hash, "Plan hash of the steady step, or its beginning").type("HASH");
    parser.value("--limit", filter_.limit, "At most so many; 0: all [20]").not_negative();
  }

  Result<int> run(CommandContext& context) override {
    if (!kind_.empty()) {
      filter_.kind = parse_word<RunKind>(kind_);
      if (!filter_.kind)
        return bad_input("--kind", "unknown kind '" + kind_ + "'", suggestion(kind_, all_words<RunKind>()));
    }
    SHARDLAB_TRY(const RunStore store, open_runs(context.options));
    SHARDLAB_TRY(const std::vector<RunEntry> runs, store.list(filter_));
    SHARDLAB_TRY(const std::vector<ChangedSettings> changed, changes_of(store, runs));
    if (context.console.json())
      print_as_json(context.console, runs, changed);
    else if (runs.empty())
      context.console.print("no runs in " + store.path().string() + " that match\n");
    else
      context.console.print(history_table(runs, context.console.style(), changed));
    return k_exit_good;
  }

 private:
  static Result<std::vector<ChangedSettings>> changes_of(const RunStore& store,
                                                         const std::vector<RunEntry>& runs) {
    std::vector<std::string> scenarios(runs.size());
    std::vector<ScenarioText> texts;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      SHARDLAB_TRY(scenarios[i], store.load_scenario(runs[i].id));
      texts.push_back({scenarios[i], runs[i].name});
    }
    return changed_settings(texts);
  }

  static void print_as_json(Console& console, const std::vector<RunEntry>& runs,
                            const std::vector<ChangedSettings>& changed) {
    Json list = Json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      list.push_back(entry_json(runs[i]));
      Json& settings = list.back()["changed"] = Json::array();
      for (const SettingDifference& each : changed[i])
        settings.push_back({{"key", each.key}, {"before", each.first}, {"value", each.second}});
    }
    console.print_json({{"runs", std::move(list)}});
  }

  RunFilter filter_{.kind = {}, .name = {}, .tag = {}, .plan_hash = {}, .limit = 20};
  std::string kind_;
};

}  // namespace

std::unique_ptr<Command> make_history_command() {
  return std::make_unique<HistoryCommand>();
}

}  // namespace shardlab
