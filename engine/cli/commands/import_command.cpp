#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/imports/import_report.h"
#include "engine/cli/recorded_training.h"
#include "engine/cli/stored_runs.h"
#include "engine/formats/imports/foreign_file.h"
#include "engine/formats/profiler/import_profile.h"
#include "engine/formats/record/import_record.h"
#include "engine/report/summarize.h"

namespace shardlab {
namespace {

class ImportCommand final : public Command {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view help() const override { return "Files of other tools: a scenario, or of traces a run"; }
  std::string_view details() const override {
    return "FILE is a configuration of accelerate or DeepSpeed, TrainingArguments, or a script that starts\n"
           "ranks: read, never executed, it becomes a scenario; several are one case, and files that they\n"
           "name are found. Or it is a trace of torch.profiler, packed with gzip or not: several are the "
           "ranks\n"
           "of one measured run. Or it is the folder that a program of `export --to script` filled with\n"
           "--record. Which it is, its content says (docs/formats.md).";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true, .progress = true}; }

  void add_options(OptionParser& parser) override {
    parser
        .value("files", files_,
               "Configurations of one training, or traces, one a rank, or the folder of a record")
        .type("FILE")
        .required();
    parser.value("--onto", onto_, "Scenario that says what the files do not: model, cluster, data").type("S");
    parser.value("-o,--output", output_, "Write the scenario here").type("SCENARIO");
    parser.flag("--force", force_, "Replace a scenario that exists");
    parser.value("--name", name_, "Of a run of traces [the first file's]");
  }

  Result<int> run(CommandContext& context) override {
    const std::vector<std::filesystem::path> files(files_.begin(), files_.end());
    const bool recorded = files.size() == 1 && is_training_record(files.front());
    const auto profiles = std::count_if(files.begin(), files.end(), is_profile);
    if (!recorded && profiles == 0) return import_scenario(context, files);
    if (!recorded && profiles < static_cast<std::ptrdiff_t>(files.size()))
      return bad_input("import", "traces and configurations together", "import them one after the other");
    SHARDLAB_TRY(RunRecord record, recorded ? record_of_training(files.front()) : record_of_profiles(files));
    if (!name_.empty()) record.name = name_;
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    SHARDLAB_TRY(const RunId id, store.save(record));
    const FinishedRun run{id, std::move(record.summary), std::move(record.trace)};
    announce(context.console, run);
    print_run(context.console, run);
    return k_exit_good;
  }

 private:
  Result<RunRecord> record_of_profiles(const std::vector<std::filesystem::path>& files) const {
    SHARDLAB_TRY(ImportedProfile imported, import_profiles(files));
    RunRecord record;
    record.name = imported.name;
    record.tags = {"imported"};
    record.note = fmt::format("from {}", files_.front());
    record.scenario_yaml = "# imported: there is no scenario\n";
    SHARDLAB_TRY(record.summary,
                 summarize_recorded(imported.plan.steady, imported.trace, imported.memory_limit));
    record.plan = std::move(imported.plan);
    record.trace = std::move(imported.trace);
    return record;
  }

  Result<int> import_scenario(CommandContext& context,
                              const std::vector<std::filesystem::path>& files) const {
    std::error_code error;
    if (!output_.empty() && !force_ && std::filesystem::exists(output_, error))
      return bad_input(in_file(output_.string()), "exists already", "--force replaces it");
    SHARDLAB_TRY(const MadeImport made, make_import({files, onto_, context.options.overrides}));
    if (!output_.empty()) SHARDLAB_CHECK_OK(write(made));
    if (context.console.json()) {
      context.console.print_json(import_json(made));
    } else if (output_.empty()) {
      context.console.print(imported_yaml(made));
    } else {
      context.console.print(import_text(made, context.console.style()) +
                            fmt::format("written: {}\n", output_.string()));
    }
    return k_exit_good;
  }

  Status write(const MadeImport& made) const {
    std::ofstream out(output_, std::ios::binary);
    out << imported_yaml(made);
    out.close();
    return out ? Status() : Status(bad_input(in_file(output_.string()), "cannot be written"));
  }

  std::vector<std::string> files_;
  std::string name_;
  std::filesystem::path onto_;
  std::filesystem::path output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import_command() {
  return std::make_unique<ImportCommand>();
}

}  // namespace shardlab
