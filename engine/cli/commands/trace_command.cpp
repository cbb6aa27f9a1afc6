#include <filesystem>
#include <map>
#include <span>

#include <nlohmann/json.hpp>

#include "engine/base/nearest.h"
#include "engine/base/output_file.h"
#include "engine/cli/command.h"
#include "engine/cli/stored_runs.h"
#include "engine/formats/chrome_trace.h"
#include "engine/formats/trace_csv.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

// What the instructions of a run's plans do, by plan and instruction.
using WordsOfPlans = std::map<const StepPlan*, std::vector<std::string>>;

WordsOfPlans words_of_plans(const RunRecord& record) {
  WordsOfPlans all;
  for (const StepPlan* plan : record.plan.all()) {
    const PlanWords words(*plan);
    for (std::size_t i = 0; i < plan->instructions.size(); ++i)
      all[plan].push_back(words.instruction(make_id<InstructionId>(i)));
  }
  return all;
}

// The steps of a stored run with the plans they follow. Plans are found by hash: a step of another plan is
// left out.
std::vector<TracedStep> traced_steps(const RunRecord& record, const WordsOfPlans& words, bool with_warmup) {
  std::vector<TracedStep> steps;
  const auto add = [&](const std::vector<StepTrace>& traces) {
    for (const StepTrace& trace : traces) {
      for (const StepPlan* plan : record.plan.all()) {
        if (plan_hash(*plan) != trace.plan_hash) continue;
        const auto its = words.find(plan);
        steps.push_back(
            {*plan, trace, its == words.end() ? std::span<const std::string>() : std::span(its->second)});
        break;
      }
    }
  };
  if (with_warmup) add(record.trace.warmup);
  add(record.trace.steps);
  return steps;
}

class TraceCommand final : public Command {
 public:
  std::string_view name() const override { return "trace"; }
  std::string_view help() const override { return "Timeline of a stored run for ui.perfetto.dev, or as CSV"; }
  std::string_view details() const override {
    return "RUN is r12, 12, last, or the name of a scenario (its newest run). Two runs (a prediction and its "
           "measurement)\n"
           "lie one above the other.";
  }
  CommonUse uses() const override { return {.database = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("runs", runs_, "One or two runs").type("RUN").required().count(1, 2);
    parser.value("--format", format_, "perfetto or csv [perfetto]");
    parser.value("-o,--output", output_, "File to write [stdout]").type("FILE");
    parser.flag("--warmup", with_warmup_, "With the setup and the warm-up steps");
  }

  Result<int> run(CommandContext& context) override {
    const std::vector<std::string> known = {"perfetto", "csv"};
    if (format_ != known[0] && format_ != known[1]) {
      return bad_input("--format", "unknown format '" + format_ + "'", suggestion(format_, known));
    }
    SHARDLAB_TRY(const RunStore store, open_runs(context.options));
    std::vector<RunRecord> records;
    for (const std::string& reference : runs_) {
      SHARDLAB_TRY(const RunId id, store.find(reference));
      SHARDLAB_TRY(RunRecord record, store.load(id));
      records.push_back(std::move(record));
    }
    return write(context.console, text_of(records));
  }

 private:
  std::string text_of(const std::vector<RunRecord>& records) const {
    std::vector<WordsOfPlans> words;
    for (const RunRecord& record : records) words.push_back(words_of_plans(record));
    std::vector<std::vector<TracedStep>> steps;
    for (std::size_t i = 0; i < records.size(); ++i)
      steps.push_back(traced_steps(records[i], words[i], with_warmup_));
    std::vector<TracedRun> runs;
    for (std::size_t i = 0; i < records.size(); ++i)
      runs.push_back({to_string(records[i].trace.provenance.kind), steps[i]});
    return format_ == "csv" ? trace_csv(runs) : chrome_trace(runs);
  }

  Result<int> write(Console& console, const std::string& text) const {
    if (output_.empty()) {
      if (console.json())
        return bad_input("shardlab trace", "--json tells about a file", "give --output FILE");
      console.print(text);
      return k_exit_good;
    }
    SHARDLAB_CHECK_OK(write_output_file(output_, text));
    if (console.json()) console.print_json({{"file", output_}, {"format", format_}, {"bytes", text.size()}});
    console.note("wrote " + output_ + (format_ == "csv" ? "" : "; open it in https://ui.perfetto.dev"));
    return k_exit_good;
  }

  std::vector<std::string> runs_;
  std::string format_ = "perfetto";
  std::string output_;
  bool with_warmup_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_command() {
  return std::make_unique<TraceCommand>();
}

}  // namespace shardlab
