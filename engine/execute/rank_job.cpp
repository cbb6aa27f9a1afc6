#include "engine/execute/rank_job.h"

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/output_file.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_by_hand = "shardlab-rank is started by `shardlab run`, not by hand";

}  // namespace

fs::path rank_job_path(const fs::path& run_directory) {
  return run_directory / "job.json";
}
fs::path rank_job_path(const fs::path& run_directory, int rank) {
  return run_directory / fmt::format("job-{}.json", rank);
}

Status write_rank_job(const fs::path& file, const RankJob& job) {
  SHARDLAB_TRY(const std::string text, rank_job_text(job));
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error)
    return run_failed(in_file(file.parent_path().string()),
                      fmt::format("cannot be made: {}", error.message()));
  return write_output_file(file, text);
}

Result<Scenario> scenario_of(const RankJob& job) {
  return parse_scenario(job.scenario,
                        job.directory.empty() ? "scenario.yaml" : job.directory + "/scenario.yaml");
}

Result<RankJob> read_rank_job(const fs::path& file) {
  const auto text = read_input_file(file, k_rank_job_file);
  if (!text || text->empty()) {
    const std::string why = text ? "it is empty" : text.error().what;
    return bad_input(in_file(file.string()), fmt::format("this rank cannot read its job: {}", why),
                     k_by_hand);
  }
  Result<RankJob> job = parse_rank_job(*text);
  if (!job) job.error().place = in_file(file.string());
  return job;
}

Result<RankCommandLine> parse_rank_command(int count, const char* const* arguments) {
  RankCommandLine command;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name != "--job" && name != "--parent") return bad_input(name, "unknown option", k_by_hand);
    if (i + 1 >= count) return bad_input(name, "has no value", k_by_hand);
    const std::string value = arguments[++i];
    if (name == "--job") {
      command.job = value;
      continue;
    }
    const bool is_number =
        !value.empty() && value.size() <= 9 && value.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) return bad_input(name, fmt::format("'{}' is not a number", value), k_by_hand);
    command.parent = std::stoi(value);
  }
  if (command.job.empty()) return bad_input("shardlab-rank", "needs --job", k_by_hand);
  return command;
}

}  // namespace shardlab
