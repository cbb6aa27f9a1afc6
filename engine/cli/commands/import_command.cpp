#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"
#include "engine/cli/command.h"
#include "engine/cli/imports/kept_run.h"
#include "engine/cli/imports/log_run.h"
#include "engine/cli/imports/seen_plan_report.h"
#include "engine/cli/imports/snapshot_run.h"
#include "engine/cli/recorded_training.h"
#include "engine/cli/stored_runs.h"
#include "engine/formats/imports/foreign_file.h"
#include "engine/formats/logs/read_training_log.h"
#include "engine/formats/profiler/import_profile.h"
#include "engine/formats/record/import_record.h"
#include "engine/imports/import_report.h"
#include "engine/report/json.h"
#include "engine/report/summarize.h"

namespace shardlab {
namespace {

class ImportCommand final : public Command {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view help() const override {
    return "Files of other tools: a scenario, or of traces and logs a run";
  }
  std::string_view details() const override {
    return "FILE is a configuration of accelerate or DeepSpeed, TrainingArguments, or a script that starts\n"
           "ranks: read, never executed, it becomes a scenario; several are one case, and files that they\n"
           "name are found. Or it is a trace of torch.profiler, packed with gzip or not: several are the\n"
           "ranks of one measured run; with --onto S the plan that it shows becomes a scenario. Or it is\n"
           "the log, or trainer_state.json, of a training by transformers' Trainer, DeepSpeed or\n"
           "torchtitan (several are its ranks or its starts): a measured run, with --onto S one of S. Or it "
           "is a snapshot of\n"
           "torch.cuda.memory: a run of its memory. Or it is the folder that a program of `export --to\n"
           "script` filled with --record, or that of a real run of ours that was kept (--keep-spool).\n"
           "Which it is, its content says (docs/formats.md).";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true, .progress = true}; }

  void add_options(OptionParser& parser) override {
    parser
        .value(
            "files", files_,
            "Configurations of one training, or traces, one a rank, or its logs, or the folder of a record "
            "or a run")
        .type("FILE")
        .required();
    parser.value("--onto", onto_, "Scenario that says what the files do not: model, cluster, data").type("S");
    parser.value("-o,--output", output_, "Write the scenario here").type("SCENARIO");
    parser.flag("--force", force_, "Replace a scenario that exists");
    parser.value("--name", name_, "Of a run of traces or a log [the first file's]");
  }

  Result<int> run(CommandContext& context) override {
    const std::vector<std::filesystem::path> files(files_.begin(), files_.end());
    if (files.size() == 1 && is_kept_run(files.front())) return import_kept_run(context, files.front());
    if (files.size() == 1 && is_memory_snapshot(files.front())) {
      SHARDLAB_CHECK_OK(check_no_scenario(context.options));
      SHARDLAB_TRY(RunRecord record, run_of_snapshot(files.front()));
      return store(context, std::move(record), std::nullopt);
    }
    const bool recorded = files.size() == 1 && is_training_record(files.front());
    // Scripts keep lines of their log in comments.
    const auto is_log = [](const std::filesystem::path& file) {
      return !is_launch_script_name(file) && is_training_log(file);
    };
    if (!recorded && std::any_of(files.begin(), files.end(), is_log)) return import_log(context, files);
    const auto profiles = std::count_if(files.begin(), files.end(), is_profile);
    if (!recorded && profiles == 0) {
      auto imported = import_scenario(context, files, make_import);
      if (imported || !is_meant_as_log(files.front())) return imported;
      return import_log(context, files);
    }
    if (!recorded && profiles < static_cast<std::ptrdiff_t>(files.size()))
      return bad_input("import", "traces and configurations together", "import them one after the other");
    if (!recorded && !onto_.empty()) return import_scenario(context, files, make_import_of_traces);
    SHARDLAB_CHECK_OK(check_no_scenario(context.options));
    if (recorded) {
      SHARDLAB_TRY(RunRecord record, record_of_training(files.front()));
      return store(context, std::move(record), std::nullopt);
    }
    std::optional<SeenPlan> seen;
    SHARDLAB_TRY(RunRecord record, record_of_profiles(files, seen));
    return store(context, std::move(record), seen);
  }

 private:
  // What is for a scenario says nothing about a run.
  Status check_no_scenario(const CommonOptions& options) const {
    const char* const given = !onto_.empty()               ? "--onto"
                              : !output_.empty()           ? "--output"
                              : !options.overrides.empty() ? "--set"
                                                           : nullptr;
    if (given == nullptr) return {};
    return bad_input(given, "is for a scenario, and this becomes a run",
                     "traces become a scenario with --onto S, records of programs do not");
  }

  Result<int> import_kept_run(CommandContext& context, const std::filesystem::path& folder) const {
    SHARDLAB_CHECK_OK(check_no_scenario(context.options));
    if (!name_.empty())
      return bad_input("--name", "is for a run of traces", "this run has its scenario's name");
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    SHARDLAB_TRY(const FinishedRun run, store_kept_run(folder, store));
    announce(context.console, run);
    print_run(context.console, run);
    return k_exit_good;
  }

  // With --onto it is a run of that scenario.
  Result<int> import_log(CommandContext& context, const std::vector<std::filesystem::path>& files) const {
    for (auto file = files.begin(); file != files.end(); ++file) {
      if (std::find(files.begin(), file, *file) != file)
        return bad_input(in_file(file->string()), "is named twice");
    }
    for (const std::filesystem::path& file : files) {
      if (!is_training_log(file) && !is_meant_as_log(file))
        return bad_input(in_file(file.string()), "is no log, and others are",
                         "logs of one training are imported together, other files by themselves");
    }
    if (!output_.empty()) return bad_input("--output", "is for a scenario, and a log becomes a run");
    if (onto_.empty() && !context.options.overrides.empty())
      return bad_input("--set", "is for a scenario, and a log becomes a run",
                       "--onto S says whose run it is");
    SHARDLAB_TRY(LogRun run, run_of_log({files, onto_, context.options.overrides}));
    for (const std::string& each : run.contradictions)
      context.console.note("warning: " + each + ": its times are not judged");
    return store(context, std::move(run.record), std::nullopt);
  }

  Result<int> store(CommandContext& context, RunRecord record, const std::optional<SeenPlan>& seen) const {
    if (!name_.empty()) record.name = name_;
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    SHARDLAB_TRY(const RunId id, store.save(record));
    const FinishedRun run{id, std::move(record.summary), std::move(record.trace)};
    announce(context.console, run);
    if (context.console.json()) {
      Json document = run_json(run.summary, run.id);
      document["seen_plan"] = seen_plan_json(seen);
      context.console.print_json(document);
    } else {
      print_run(context.console, run);
      context.console.print(seen_plan_text(seen, files_.front(), context.console.style()));
    }
    return k_exit_good;
  }

  Result<RunRecord> record_of_profiles(const std::vector<std::filesystem::path>& files,
                                       std::optional<SeenPlan>& seen) const {
    std::vector<ProfilerTrace> traces;
    for (const std::filesystem::path& file : files) {
      SHARDLAB_TRY(traces.emplace_back(), read_profiler_trace(file));
    }
    seen = seen_plan(traces);
    SHARDLAB_TRY(ImportedProfile imported, import_profiles(traces, files_));
    RunRecord record;
    record.name = imported.name;
    record.tags = {"imported"};
    record.note = fmt::format("from {}{}", files_.front(), seen ? ": " + seen->words : "");
    record.scenario_yaml = "# imported: there is no scenario\n";
    SHARDLAB_TRY(record.summary,
                 summarize_recorded(imported.plan.steady, imported.trace, imported.memory_limit));
    record.plan = std::move(imported.plan);
    record.trace = std::move(imported.trace);
    return record;
  }

  Result<int> import_scenario(CommandContext& context, const std::vector<std::filesystem::path>& files,
                              Result<MadeImport> (*make)(const ImportRequest&)) const {
    std::error_code error;
    if (!output_.empty() && !force_ && std::filesystem::exists(output_, error))
      return bad_input(in_file(output_.string()), "exists already", "--force replaces it");
    SHARDLAB_TRY(const MadeImport made, make({files, onto_, context.options.overrides}));
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

  Status write(const MadeImport& made) const { return write_output_file(output_, imported_yaml(made)); }

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
