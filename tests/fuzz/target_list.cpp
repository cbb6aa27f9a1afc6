#include <algorithm>

#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

using enum SeedPlace::Verdict;
using enum SeedPlace::Form;

constexpr std::size_t k_short = 512, k_usual = 4096, k_long = 16 << 10, k_file = 32 << 10;

const SeedPlace k_messages{"tests/data/doctor/messages.txt", "", taken, parts};
const SeedPlace k_machines{"tests/data/doctor/machines.txt", "", taken, parts};
const SeedPlace k_programs{"tests/data/doctor/programs.txt", "", taken, parts};
const SeedPlace k_good_scripts{"tests/data/imports/good", ".sh"};
const SeedPlace k_any_scripts{"tests/data/imports/good", ".sh", any};  // some name files
const SeedPlace k_batch_scripts{"tests/data/imports/good", ".sbatch"};
const SeedPlace k_good_yaml{"tests/data/imports/good", ".yaml", any};
const SeedPlace k_good_json{"tests/data/imports/good", ".json"};
const SeedPlace k_any_json{"tests/data/imports/good", ".json", any};  // some in the human form
const SeedPlace k_bad_yaml{"tests/data/imports/bad", ".yaml", any};
const SeedPlace k_scenarios{"scenarios/first", ".yaml", taken};
const SeedPlace k_any_scenarios{"scenarios/first", ".yaml", any};
const SeedPlace k_good_scenarios{"tests/data/scenario/good", ".yaml", any};
const SeedPlace k_wrong_scenarios{"tests/data/scenario/errors", ".yaml", any};

std::vector<FuzzTarget> targets_of_own_code() {
  return {
      {"pickle", "pickles", read_pickle_bytes, k_usual, {{"tests/data/doctor/flight/skips_one"}}},
      {"safetensors_header", "headers of safetensors", read_header_of_safetensors, k_usual, {}},
      {"safetensors", "safetensors files", read_safetensors_file, k_usual, {}},
      {"safetensors_index", "indices of safetensors", read_safetensors_index, k_usual, {}},
      {"spool", "spools of ranks", read_spool_file, k_usual, {}},
      {"plan", "text of plans", read_plan_text, k_long, {{"tests/data/plans/golden", ".plan"}}},
      {"shell", "launch scripts", read_shell_script, k_usual, {k_good_scripts, k_batch_scripts}},
      {"import",
       "files of other tools",
       read_foreign_text,
       k_usual,
       {k_good_yaml, k_good_json, k_any_scripts, k_bad_yaml}},
      {"foreign_json", "JSON and YAML of other tools", read_foreign_values, k_usual, {k_any_json}},
      {"log", "logs of jobs", read_log_text, k_usual, {k_messages}},
      {"program", "training programs", read_program_text, k_usual, {k_programs}},
      {"flight",
       "dumps of flight recorders",
       read_flight_bytes,
       k_usual,
       {{"tests/data/doctor/flight/skips_one"}}},
      {"recording",
       "recordings of an allocator",
       read_allocator_recording,
       k_file,
       {{"tests/data/allocator", ".pickle"}, {"tests/data/allocator", "_20.json"}}},
      {"tokens", "token files", read_token_file, k_usual, {}},
      {"csv", "tables", read_csv_text, k_usual, {}},
      {"lines", "sizes, outcomes, errors, options", read_short_text, k_short, {}},
      {"expression", "expressions of lessons", read_expression, k_short, {}},
      {"machine", "texts of a machine", read_machine_texts, k_usual, {k_machines}},
  };
}

std::vector<FuzzTarget> targets_of_libraries() {
  return {
      {"scenario",
       "scenarios",
       read_scenario_text,
       k_usual,
       {k_scenarios, k_good_scenarios, k_wrong_scenarios}},
      {"planned",
       "scenarios, up to their plans",
       read_and_plan,
       k_usual,
       {{"scenarios/first/tiny-llama.yaml"},
        {"scenarios/first/tiny-llama-accumulation.yaml"},
        {"scenarios/first/tiny-llama-ddp.yaml"},
        k_any_scenarios}},
      {"overrides", "--set, and edits of a text", read_overrides, k_short, {}},
      {"yaml", "YAML", read_yaml_text, k_usual, {k_scenarios}},
      {"model_config",
       "config.json of models",
       read_model_config,
       k_usual,
       {{"tests/data/families", ".json"}}},
      {"trace", "traces of torch.profiler", read_profiler_text, k_file, {{"tests/data/profiler", ".json"}}},
      {"packed_trace", "the same, packed", read_packed_trace, k_file, {{"tests/data/profiler", ".json.gz"}}},
      {"calibration", "calibrations", read_calibration, k_usual, {}},
      {"arguments", "arguments of commands", read_arguments, k_short, {}},
      {"database", "pages of a database", read_database, 128 << 10, {}},
      {"stored_texts", "columns of a database", read_stored_text, k_usual, {}},
      {"lesson", "lessons", read_lesson_text, k_usual, {}},
      {"search", "search files", read_search_file, k_usual, {}},
      {"rank_job", "jobs of ranks", read_rank_job_text, k_usual, {}},
      {"message", "messages of a meeting", read_message_bytes, k_short, {}},
      {"published",
       "published runs and their rules",
       read_published_rules,
       k_long,
       {{"assets/backtest", ".yaml", any}}},
      {"hardware", "fitted figures and probes", read_figures, k_usual, {{"assets/hardware/fitted.json"}}},
      {"record", "records of programs", read_record_file, k_usual, {}},
      {"training_log",
       "logs of trainings",
       read_log_of_training,
       k_usual,
       {{"tests/data/logs", ".log"}, {"tests/data/logs", ".json", any}}},
  };
}

}  // namespace

const std::vector<FuzzTarget>& all_targets() {
  static const std::vector<FuzzTarget> targets = [] {
    std::vector<FuzzTarget> all = targets_of_own_code();
    for (FuzzTarget& target : targets_of_libraries()) all.push_back(std::move(target));
    return all;
  }();
  return targets;
}

const FuzzTarget* find_target(std::string_view name) {
  const std::vector<FuzzTarget>& targets = all_targets();
  const auto found =
      std::find_if(targets.begin(), targets.end(), [&](const FuzzTarget& t) { return t.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace shardlab::fuzz
