// The hardware that ships with the program, as tables, and where each figure comes from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "gui/view_model/data_table.h"

namespace shardlab::view {

struct HardwareList {
  DataTable gpus;   // Row::key is the position in gpu_names
  DataTable nodes;  // and in node_names
  std::vector<std::string> gpu_names;
  std::vector<std::string> node_names;
  std::vector<Error> problems;  // of files that could not be read
};

HardwareList read_hardware();

enum class HardwareKind : std::uint8_t { gpu, node };

// Every figure of a description as its file gives it: name, value, kind, source. Estimates are marked.
// not_possible when no file has this name, bad_input when it is no YAML.
Result<DataTable> figure_table(HardwareKind kind, const std::string& name);

}  // namespace shardlab::view
