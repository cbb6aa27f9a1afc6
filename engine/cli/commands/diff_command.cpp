#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/stored_runs.h"
#include "engine/report/json.h"
#include "engine/report/tables.h"

namespace shardlab {
namespace {

class DiffCommand final : public Command {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view help() const override {
    return "Two stored runs of the same plan, instruction by instruction";
  }
  std::string_view details() const override {
    return "RUN is r12, 12, last, or the name of a scenario (its newest run).\n"
           "For the plans of two scenarios: shardlab plan S --diff S2";
  }
  CommonUse uses() const override { return {.database = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("first", first_, "First run").type("RUN").required();
    parser.value("second", second_, "Second run").type("RUN").required();
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const RunStore store, open_runs(context.options));
    SHARDLAB_TRY(const RunId first_id, store.find(first_));
    SHARDLAB_TRY(const RunId second_id, store.find(second_));
    SHARDLAB_TRY(const RunRecord first, store.load(first_id));
    SHARDLAB_TRY(const RunRecord second, store.load(second_id));
    SHARDLAB_TRY(const Comparison comparison, compare(first.plan.steady, {first.summary, first.trace},
                                                      {second.summary, second.trace}, {}));
    if (context.console.json()) {
      context.console.print_json(comparison_json(comparison, run_json(first.summary, first_id),
                                                 run_json(second.summary, second_id)));
    } else {
      context.console.print(comparison_table(comparison, context.console.style()));
    }
    return k_exit_good;
  }

 private:
  std::string first_, second_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() {
  return std::make_unique<DiffCommand>();
}

}  // namespace shardlab
