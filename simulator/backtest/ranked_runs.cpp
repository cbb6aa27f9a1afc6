#include "simulator/backtest/ranked_runs.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace shardlab {
namespace {

constexpr double k_apart = 0.05;

bool is_one(const std::string& cell) {
  return cell.empty() || cell == "1";
}

bool has_adapters(const PublishedRun& run) {
  std::string text;
  for (const char* column : {"id", "model", "source_file_or_table", "notes"}) text += run.cell(column) + " ";
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find("lora") != std::string::npos;
}

bool is_known(const PublishedRun& run) {
  static constexpr const char* k_needed[] = {"n_layers",
                                             "hidden",
                                             "n_heads",
                                             "seq_len",
                                             "micro_batch_per_gpu",
                                             "gpu",
                                             "n_gpus",
                                             "tokens_per_s_per_gpu"};
  return std::all_of(std::begin(k_needed), std::end(k_needed),
                     [&](const char* column) { return !run.cell(column).empty(); });
}

std::vector<std::string> cells_of(const PublishedRun& run, const std::vector<std::string>& columns) {
  std::vector<std::string> cells;
  for (const std::string& column : columns) cells.push_back(run.cell(column));
  return cells;
}

// By the cells of some columns, groups in the order of their first run.
std::vector<std::vector<const PublishedRun*>> grouped_by(const std::vector<const PublishedRun*>& runs,
                                                         const std::vector<std::string>& columns) {
  std::map<std::vector<std::string>, std::size_t> known;
  std::vector<std::vector<const PublishedRun*>> groups;
  for (const PublishedRun* const run : runs) {
    const auto [at, is_new] = known.try_emplace(cells_of(*run, columns), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(run);
  }
  return groups;
}

}  // namespace

const std::vector<std::string>& setting_columns() {
  static const std::vector<std::string> columns = {
      "micro_batch_per_gpu",      "grad_accum", "strategy",        "param_dtype", "reduce_dtype",
      "activation_checkpointing", "compile",    "flash_attention", "fp8",         "cpu_offload"};
  return columns;
}

double published_rate(const PublishedRun& run) {
  return run.number("tokens_per_s_per_gpu").value_or(0);
}

bool are_apart(double a, double b) {
  return std::max(a, b) >= (1 + k_apart) * std::min(a, b);
}

bool is_in_ranking_scope(const PublishedRun& run) {
  static constexpr const char* k_other_parallelism[] = {"tp", "pp", "cp", "ep"};
  const bool data_parallel = std::all_of(std::begin(k_other_parallelism), std::end(k_other_parallelism),
                                         [&](const char* column) { return is_one(run.cell(column)); });
  return data_parallel && !has_adapters(run) && run.cell("notes").find("FLAG") == std::string::npos;
}

std::vector<const PublishedRun*> ranked_runs(const PublishedTable& table) {
  std::vector<const PublishedRun*> known;
  for (const PublishedRun& run : table.runs)
    if (is_in_ranking_scope(run) && is_known(run)) known.push_back(&run);
  std::vector<std::string> columns = {
      "source_repo_or_paper", "framework", "framework_version", "model", "seq_len", "gpu", "n_gpus"};
  columns.insert(columns.end(), setting_columns().begin(), setting_columns().end());
  std::vector<const PublishedRun*> once;
  for (const auto& equal : grouped_by(known, columns)) {
    const auto [least, most] = std::minmax_element(
        equal.begin(), equal.end(),
        [](const PublishedRun* a, const PublishedRun* b) { return published_rate(*a) < published_rate(*b); });
    if (!are_apart(published_rate(**least), published_rate(**most))) once.push_back(equal.front());
  }
  return once;
}

std::vector<std::vector<const PublishedRun*>> runs_together(const std::vector<const PublishedRun*>& runs,
                                                            const std::vector<std::string>& columns) {
  std::vector<std::vector<const PublishedRun*>> groups = grouped_by(runs, columns);
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

}  // namespace shardlab
