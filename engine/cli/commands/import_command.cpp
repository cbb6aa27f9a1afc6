#include <fmt/format.h>

#include "engine/cli/command.h"
#include "engine/cli/stored_runs.h"
#include "engine/formats/profiler/import_profile.h"
#include "engine/report/summarize.h"

namespace shardlab {
namespace {

class ImportCommand final : public Command {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view help() const override { return "Traces of torch.profiler as a measured run"; }
  std::string_view details() const override {
    return "FILE is what export_chrome_trace() wrote, packed with gzip or not; several are the ranks of one "
           "run.\nIts kernels become instructions of a plan of their own: totals, memory and the time by "
           "kind\n"
           "compare with a prediction.";
  }
  CommonUse uses() const override { return {.database = true, .progress = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("files", files_, "Traces, one a rank").type("FILE").required();
    parser.value("--name", name_, "Of the run [the first file's]");
  }

  Result<int> run(CommandContext& context) override {
    const std::vector<std::filesystem::path> files(files_.begin(), files_.end());
    SHARDLAB_TRY(ImportedProfile imported, import_profiles(files));
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    SHARDLAB_TRY(const FinishedRun run, save(std::move(imported), store));
    announce(context.console, run);
    print_run(context.console, run);
    return k_exit_good;
  }

 private:
  Result<FinishedRun> save(ImportedProfile imported, RunStore& store) const {
    RunRecord record;
    record.name = name_.empty() ? imported.name : name_;
    record.tags = {"imported"};
    record.note = fmt::format("from {}", files_.front());
    record.scenario_yaml = "# imported: there is no scenario\n";
    SHARDLAB_TRY(record.summary,
                 summarize_recorded(imported.plan.steady, imported.trace, imported.memory_limit));
    record.plan = std::move(imported.plan);
    record.trace = std::move(imported.trace);
    SHARDLAB_TRY(const RunId id, store.save(record));
    return FinishedRun{id, std::move(record.summary), std::move(record.trace)};
  }

  std::vector<std::string> files_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Command> make_import_command() {
  return std::make_unique<ImportCommand>();
}

}  // namespace shardlab
