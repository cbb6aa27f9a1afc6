#include "gui/view_model/hardware_list.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "engine/base/paths.h"
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

void add_figures(const YamlNode& section, DataTable& table) {
  const auto text_of = [](const YamlNode& figure, const char* key) {
    const YamlNode* const found = figure.find(key);
    return found == nullptr ? std::string() : found->text;
  };
  for (const YamlEntry& entry : section.entries) {
    if (!entry.value.is_map()) continue;
    const std::string kind = text_of(entry.value, "kind");
    Row row;
    row.cells = {text_cell(entry.key), text_cell(text_of(entry.value, "value")),
                 text_cell(kind, kind == "estimate" || kind == "recalled" ? CellTone::fair : CellTone::plain),
                 text_cell(text_of(entry.value, "source"), CellTone::faint)};
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

HardwareList read_hardware() {
  HardwareList list;
  list.gpus.name = "gpus";
  list.gpus.columns = {{.title = "GPU", .numeric = false},    {.title = "memory", .unit = "bytes"},
                       {.title = "bandwidth", .unit = "B/s"}, {.title = "bfloat16", .unit = "FLOP/s"},
                       {.title = "NVLink", .unit = "B/s"},    {.title = "$ an hour", .unit = "$"}};
  list.nodes.name = "nodes";
  list.nodes.columns = {{.title = "node", .numeric = false},
                        {.title = "GPU", .numeric = false},
                        {.title = "GPUs"},
                        {.title = "network", .unit = "B/s"},
                        {.title = "host memory", .unit = "bytes"},
                        {.title = "$ an hour", .unit = "$"}};
  list.gpu_names = shardlab::gpu_names();
  list.node_names = shardlab::node_names();
  for (std::size_t i = 0; i < list.gpu_names.size(); ++i) {
    if (const auto gpu = find_gpu(list.gpu_names[i])) {
      list.gpus.rows.push_back(gpu_row(*gpu, i));
    } else {
      list.problems.push_back(gpu.error());
    }
  }
  for (std::size_t i = 0; i < list.node_names.size(); ++i) {
    if (const auto node = find_node(list.node_names[i])) {
      list.nodes.rows.push_back(node_row(*node, i));
    } else {
      list.problems.push_back(node.error());
    }
  }
  return list;
}

Result<DataTable> figure_table(HardwareKind kind, const std::string& name) {
  const std::string folder = kind == HardwareKind::gpu ? "hardware/gpus/" : "hardware/nodes/";
  SHARDLAB_TRY(const std::filesystem::path file, find_asset(folder + name + ".yaml"));
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  SHARDLAB_TRY(const YamlNode root, parse_yaml(text.str(), file.string()));
  DataTable table;
  table.name = name;
  table.columns = {{.title = "figure", .numeric = false},
                   {.title = "value", .numeric = false},
                   {.title = "kind", .numeric = false},
                   {.title = "source", .numeric = false}};
  for (const YamlEntry& section : root.entries) add_figures(section.value, table);
  return table;
}

}  // namespace shardlab::view
