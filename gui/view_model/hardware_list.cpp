#include "gui/view_model/hardware_list.h"

#include <fmt/format.h>

#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"
#include "engine/hardware/node.h"

namespace shardlab::view {
namespace {

Cell gigabytes(std::optional<BytesPerSecond> rate) {
  if (!rate || rate->value == 0) return text_cell("-", CellTone::faint);
  return {fmt::format("{:.0f} GB/s", rate->value / 1e9), rate->value};
}

Cell teraflops(std::optional<FlopsPerSecond> rate) {
  if (!rate) return text_cell("-", CellTone::faint);
  return {fmt::format("{:.0f} TFLOP/s", rate->value / 1e12), rate->value};
}

Cell dollars(std::optional<double> low, std::optional<double> high) {
  if (!low) return text_cell("-", CellTone::faint);
  return {high && *high > *low ? fmt::format("{:.2f} to {:.2f}", *low, *high) : fmt::format("{:.2f}", *low),
          *low};
}

Row gpu_row(const Gpu& gpu, std::size_t key) {
  Row row;
  row.key = static_cast<std::int64_t>(key);
  row.cells = {text_cell(gpu.name),
               bytes_cell(gpu.memory),
               gigabytes(gpu.memory_bandwidth),
               teraflops(gpu.peaks.bfloat16),
               gigabytes(gpu.nvlink),
               dollars(gpu.dollars_per_hour_low, gpu.dollars_per_hour_high)};
  return row;
}

Row node_row(const Node& node, std::size_t key) {
  Row row;
  row.key = static_cast<std::int64_t>(key);
  row.cells = {text_cell(node.name),         text_cell(node.gpu),
               count_cell(node.gpus),        gigabytes(node.network),
               bytes_cell(node.host_memory), dollars(node.dollars_per_hour, std::nullopt)};
  return row;
}

Column figure_column(std::string title, std::string unit, std::string formula) {
  return {std::move(title), std::move(unit), true, {std::move(formula), "assets/hardware"}};
}

using Explain = decltype(DataTable::explain);

// `keys` are those of the file's figures, by column; `sources` go by row; `folder` holds the files.
Explain explain_figures(std::vector<std::string> keys, std::vector<FigureSources> sources,
                        std::string folder) {
  return [keys = std::move(keys), sources = std::move(sources), folder = std::move(folder)](
             const DataTable& table, std::size_t row, std::size_t column, Why& why) {
    if (keys[column].empty()) return;
    why.source = fmt::format("{}{}.yaml: {}", folder, table.rows[row].cells.front().text, keys[column]);
    const auto found = sources[row].find("figures." + keys[column]);
    if (found == sources[row].end()) {
      why.notes.push_back("the file does not give it");
      return;
    }
    why.parts.push_back({"kind", std::string(to_string(found->second.kind))});
    why.parts.push_back({"source", found->second.source});
  };
}

void add_figures(const YamlNode& section, DataTable& table) {
  const auto text_of = [](const YamlNode& figure, const char* key) {
    const YamlNode* const found = figure.find(key);
    return found == nullptr ? std::string() : found->text;
  };
  for (const YamlEntry& entry : section.entries) {
    if (!entry.value.is_map()) continue;
    const std::string kind = text_of(entry.value, "kind");
    const auto known = parse_word<FigureKind>(kind);
    const bool guessed = known && is_guess(*known);
    Row row;
    row.cells = {text_cell(entry.key), text_cell(text_of(entry.value, "value")),
                 text_cell(kind, guessed ? CellTone::fair : CellTone::plain),
                 text_cell(text_of(entry.value, "source"), CellTone::faint)};
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

HardwareList read_hardware() {
  HardwareList list;
  list.gpus.name = "gpus";
  list.gpus.columns = {
      {.title = "GPU", .numeric = false},
      figure_column("memory", "bytes", "of the data sheet; torch sees somewhat less"),
      figure_column("bandwidth", "B/s", "of the device's memory, its peak"),
      figure_column("bfloat16", "FLOP/s", "the peak of dense matrix products, without sparsity"),
      figure_column("NVLink", "B/s", "of one GPU in one direction; on AMD Infinity Fabric"),
      figure_column("$ an hour", "$", "what clouds ask for one GPU, lowest to highest")};
  list.nodes.name = "nodes";
  list.nodes.columns = {{.title = "node", .numeric = false},
                        {.title = "GPU", .numeric = false},
                        figure_column("GPUs", "", "of one node"),
                        figure_column("network", "B/s", "of the whole node in one direction"),
                        figure_column("host memory", "bytes", "of one node"),
                        figure_column("$ an hour", "$", "what the cloud asks for one node")};
  // By row: where the file says its figures come from.
  std::vector<FigureSources> gpu_sources, node_sources;
  list.gpu_names = shardlab::gpu_names();
  list.node_names = shardlab::node_names();
  for (std::size_t i = 0; i < list.gpu_names.size(); ++i) {
    if (const auto gpu = find_gpu(list.gpu_names[i])) {
      list.gpus.rows.push_back(gpu_row(*gpu, i));
      gpu_sources.push_back(gpu->provenance);
    } else {
      list.problems.push_back(gpu.error());
    }
  }
  for (std::size_t i = 0; i < list.node_names.size(); ++i) {
    if (const auto node = find_node(list.node_names[i])) {
      list.nodes.rows.push_back(node_row(*node, i));
      node_sources.push_back(node->provenance);
    } else {
      list.problems.push_back(node.error());
    }
  }
  list.gpus.explain =
      explain_figures({"", "memory", "memory_bandwidth", "bfloat16_flops", "nvlink", "dollars_per_hour_low"},
                      std::move(gpu_sources), "assets/hardware/gpus/");
  list.nodes.explain = explain_figures({"", "", "gpus", "network", "host_memory", "dollars_per_hour"},
                                       std::move(node_sources), "assets/hardware/nodes/");
  return list;
}

Result<DataTable> figure_table(HardwareKind kind, const std::string& name) {
  const std::string folder = kind == HardwareKind::gpu ? "hardware/gpus/" : "hardware/nodes/";
  SHARDLAB_TRY(const std::filesystem::path file, find_asset(folder + name + ".yaml"));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> root, read_shipped_yaml(file));
  DataTable table;
  table.name = name;
  table.columns = {{.title = "figure", .numeric = false},
                   {.title = "value", .numeric = false, .meaning = {"as the file gives it", file.string()}},
                   {.title = "kind", .numeric = false},
                   {.title = "source", .numeric = false}};
  for (const YamlEntry& section : root->entries) add_figures(section.value, table);
  table.explain = [](const DataTable& its, std::size_t row, std::size_t column, Why& why) {
    if (column != 1) return;
    const std::vector<Cell>& cells = its.rows[row].cells;
    why.parts = {{"kind", cells[2].text}, {"source", cells[3].text}};
  };
  return table;
}

}  // namespace shardlab::view
