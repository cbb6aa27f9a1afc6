#include "simulator/backtest/backtest_groups.h"

#include <algorithm>
#include <array>

namespace shardlab {
namespace {

std::string or_unknown(const std::string& cell) {
  return cell.empty() ? "not said" : cell;
}

std::string length_class(const PublishedRun& run) {
  const auto tokens = run.number("seq_len");
  if (!tokens) return "not said";
  return *tokens <= 2048 ? "to 2,048" : *tokens <= 8192 ? "to 8,192" : "longer";
}

std::string size_class(const PublishedRun& run) {
  const auto gpus = run.number("n_gpus");
  if (!gpus) return "not said";
  return *gpus <= 8 ? "1 to 8" : "more";
}

bool is_complete(const PublishedRun& run) {
  constexpr std::array<const char*, 4> k_degrees = {"tp", "pp", "cp", "ep"};
  constexpr std::array<const char*, 4> k_needed = {"n_layers", "seq_len", "micro_batch_per_gpu", "gpu"};
  const auto is_one = [&](const char* column) { return run.number(column).value_or(1) == 1; };
  const auto is_said = [&](const char* column) { return !run.cell(column).empty(); };
  return std::all_of(k_degrees.begin(), k_degrees.end(), is_one) &&
         std::all_of(k_needed.begin(), k_needed.end(), is_said);
}

}  // namespace

std::vector<BacktestGroup> backtest_groups(const PublishedRun& run, const std::string& source,
                                           const std::string& figure_kind,
                                           const std::vector<std::string>& rule_kinds) {
  std::vector<BacktestGroup> groups{{"source", source},
                                    {"device", or_unknown(run.cell("gpu"))},
                                    {"strategy", or_unknown(run.cell("strategy"))},
                                    {"family", or_unknown(run.cell("family"))},
                                    {"sequence", length_class(run)},
                                    {"GPUs", size_class(run)}};
  if (!figure_kind.empty()) groups.push_back({"kind", figure_kind});
  if (is_complete(run)) groups.push_back({"kind", "complete"});
  std::vector<std::string> kinds = rule_kinds;
  if (std::find(kinds.begin(), kinds.end(), "compiled") == kinds.end()) kinds.emplace_back("eager");
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  for (const std::string& kind : kinds) groups.push_back({"kind", kind});
  return groups;
}

}  // namespace shardlab
