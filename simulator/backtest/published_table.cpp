#include "simulator/backtest/published_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "engine/base/csv.h"
#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

constexpr std::size_t k_required_columns = 7;
constexpr double k_usual_gpus_per_node = 8;

constexpr std::array<std::string_view, 22> k_numbers = {"n_params",
                                                        "n_layers",
                                                        "hidden",
                                                        "n_heads",
                                                        "n_kv_heads",
                                                        "ffn_hidden",
                                                        "vocab",
                                                        "seq_len",
                                                        "gpu_memory_gib",
                                                        "n_gpus",
                                                        "gpus_per_node",
                                                        "inter_node_gbps_per_gpu",
                                                        "tp",
                                                        "pp",
                                                        "cp",
                                                        "ep",
                                                        "grad_accum",
                                                        "micro_batch_per_gpu",
                                                        "tokens_per_s_per_gpu",
                                                        "step_time_s",
                                                        "peak_memory_allocated_gib",
                                                        "peak_memory_reserved_gib"};

struct ColumnOfWords {
  std::string_view column;
  std::vector<std::string> words;
};

const std::vector<ColumnOfWords>& columns_of_words() {
  static const std::vector<ColumnOfWords> k_columns = {
      {"memory_kind",
       {"allocated", "reserved", "allocated+reserved", "active", "active+reserved", "nvidia_smi",
        "unspecified"}},
      {"oom", {"yes", "no"}},
      {"compile", {"yes", "no"}},
      {"fp8", {"yes", "no"}},
      {"flash_attention", {"yes", "no"}},
  };
  return k_columns;
}

// Up to ten mistakes as one Error.
class Mistakes {
 public:
  explicit Mistakes(std::string_view file) : file_(file) {}

  void add(int line, std::string name, std::string what, std::string hint = {}) {
    if (errors_.size() < 10)
      errors_.push_back({ErrorKind::bad_input, named(in_file(file_, line), std::move(name)), std::move(what),
                         std::move(hint)});
  }
  Status status() const {
    if (errors_.empty()) return {};
    if (errors_.size() == 1) return fail(errors_.front());
    Error all{ErrorKind::bad_input, {}, {}, {}};
    all.parts = errors_;
    return fail(std::move(all));
  }

 private:
  std::string file_;
  std::vector<Error> errors_;
};

void check_columns(const CsvTable& table, Mistakes& mistakes) {
  const std::vector<std::string>& known = published_columns();
  for (std::size_t i = 0; i < k_required_columns; ++i) {
    if (!table.column(known[i])) mistakes.add(1, known[i], "this column is missing");
  }
  for (const std::string& column : table.columns) {
    if (std::find(known.begin(), known.end(), column) == known.end())
      mistakes.add(1, column, "no column of published runs has this name", suggestion(column, known));
  }
}

void check_run(const PublishedRun& run, std::set<std::string>& ids, Mistakes& mistakes) {
  if (run.cell("id").empty())
    mistakes.add(run.line, "id", "a row has no id");
  else if (!ids.insert(run.cell("id")).second)
    mistakes.add(run.line, "id", "two rows are called '" + run.cell("id") + "'");
  for (const std::string_view column : k_numbers) {
    const std::string& cell = run.cell(std::string(column));
    if (cell.empty()) continue;
    const auto number = parse_number(cell);
    if (!number || *number <= 0)
      mistakes.add(run.line, std::string(column),
                   fmt::format("'{}' is no number above zero", whole_characters(cell, 40)));
  }
  for (const ColumnOfWords& each : columns_of_words()) {
    const std::string& cell = run.cell(std::string(each.column));
    if (!cell.empty() && std::find(each.words.begin(), each.words.end(), cell) == each.words.end())
      mistakes.add(run.line, std::string(each.column),
                   fmt::format("unknown word '{}'", whole_characters(cell, 40)),
                   suggestion(cell, each.words));
  }
}

void add_derived_cells(PublishedRun& run) {
  const auto gpus = run.number("n_gpus");
  if (!gpus) return;
  const double per_node = std::min(*gpus, run.number("gpus_per_node").value_or(k_usual_gpus_per_node));
  const double nodes = *gpus / per_node;
  if (nodes != std::floor(nodes)) return;
  run.cells["node_gpus"] = format_number(per_node);
  run.cells["nodes"] = format_number(nodes);
  run.cells["replicas"] = run.cells["nodes"];
}

}  // namespace

const std::vector<std::string>& derived_columns() {
  static const std::vector<std::string> k_columns = {"node_gpus", "nodes", "replicas"};
  return k_columns;
}

const std::vector<std::string>& published_columns() {
  static const std::vector<std::string> k_columns = {
      "id", "source_repo_or_paper", "gpu", "n_gpus", "strategy", "seq_len", "micro_batch_per_gpu",
      // What follows may be left out.
      "source_file_or_table", "date", "framework", "framework_version", "model", "family", "n_params",
      "n_layers", "hidden", "n_heads", "n_kv_heads", "ffn_hidden", "vocab", "gpu_memory_gib", "gpus_per_node",
      "intra_node_link", "inter_node_gbps_per_gpu", "tp", "pp", "cp", "ep", "param_dtype", "reduce_dtype",
      "activation_checkpointing", "compile", "flash_attention", "fp8", "cpu_offload", "grad_accum",
      "global_batch", "tokens_per_s", "tokens_per_s_per_gpu", "samples_per_s", "step_time_s", "mfu_percent",
      "tflops_per_gpu", "peak_memory_allocated_gib", "peak_memory_reserved_gib", "memory_kind", "oom",
      "notes"};
  return k_columns;
}

const std::string& PublishedRun::cell(const std::string& column) const {
  static const std::string k_nothing;
  const auto found = cells.find(column);
  return found == cells.end() ? k_nothing : found->second;
}

std::optional<double> PublishedRun::number(const std::string& column) const {
  const auto value = parse_number(cell(column));
  return value ? std::optional(*value) : std::nullopt;
}

bool PublishedRun::ran_out_of_memory() const {
  return cell("oom") == "yes";
}

const PublishedRun* PublishedTable::find(std::string_view id) const {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [&](const PublishedRun& run) { return run.cell("id") == id; });
  return found == runs.end() ? nullptr : &*found;
}

Result<PublishedTable> read_published(std::string_view text, std::string_view name) {
  SHARDLAB_TRY(const CsvTable table, parse_csv(text, name));
  Mistakes mistakes(name);
  check_columns(table, mistakes);
  SHARDLAB_CHECK_OK(mistakes.status());
  PublishedTable published{std::string(name), {}};
  std::set<std::string> ids;
  for (const CsvRecord& record : table.records) {
    PublishedRun run{record.line, {}};
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (!record.fields[i].empty()) run.cells.emplace(table.columns[i], record.fields[i]);
    }
    check_run(run, ids, mistakes);
    add_derived_cells(run);
    published.runs.push_back(std::move(run));
  }
  SHARDLAB_CHECK_OK(mistakes.status());
  return published;
}

}  // namespace shardlab
