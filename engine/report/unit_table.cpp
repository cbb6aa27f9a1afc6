// Units of a plan as a table: alike ones share a row.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/plan/unit_sizes.h"
#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

// From this many on, alike units are one row.
constexpr std::size_t k_folded = 4;

struct AlikeUnits {
  std::vector<std::size_t> units;  // indices, in forward order
  std::string path, class_name;    // of one; differing numbers in the path are a star
  std::int64_t elements = 0, padded = 0;
  Bytes gathered;
};

// "model.layers.*.mlp" for model.layers.0.mlp: the place that alike modules share.
std::string without_numbers(const std::string& path) {
  std::string text;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    text += (begin == 0 ? "" : ".") + (number ? "*" : name);
    begin = end + 1;
  }
  return text;
}

std::vector<AlikeUnits> alike_units(const PlannedScenario& planned, const StepPlan& plan) {
  const std::vector<Bytes> gathered = gathered_bytes(plan);
  std::vector<AlikeUnits> rows;
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    const PlanUnit& unit = plan.units[i];
    AlikeUnits row{{i},
                   without_numbers(unit.module_path),
                   planned.partition.units[i].class_name(planned.graph),
                   unit.elements,
                   unit.padded_elements,
                   gathered[i]};
    const auto alike = std::find_if(rows.begin(), rows.end(), [&](const AlikeUnits& other) {
      return other.path == row.path && other.class_name == row.class_name && other.elements == row.elements &&
             other.padded == row.padded && other.gathered == row.gathered;
    });
    if (alike == rows.end()) {
      rows.push_back(std::move(row));
    } else {
      alike->units.push_back(i);
    }
  }
  return rows;
}

const AlikeUnits& row_of(const std::vector<AlikeUnits>& rows, std::size_t unit) {
  return *std::find_if(rows.begin(), rows.end(), [&](const AlikeUnits& row) {
    return std::find(row.units.begin(), row.units.end(), unit) != row.units.end();
  });
}

std::string segments_of(const StepPlan& plan, std::size_t unit) {
  std::string segments;
  for (const PlanSegment& segment : plan.segments) {
    if (segment.unit.index() == unit) segments += (segments.empty() ? "" : " ") + segment.name;
  }
  return segments;
}

// "u2 u4 .. u64 (32)" would say no more than the ends and the number.
std::string names_of(const StepPlan& plan, const AlikeUnits& row) {
  return fmt::format("{} .. {} ({})", plan.units[row.units.front()].name, plan.units[row.units.back()].name,
                     row.units.size());
}

std::vector<TableCell> cells(const std::string& name, const std::string& path, const AlikeUnits& row,
                             const std::string& segments) {
  return {name,
          path.empty() ? "(the model)" : path,
          row.class_name,
          grouped(row.elements),
          grouped(row.padded),
          row.gathered.value == 0 ? "" : to_string(row.gathered),
          segments};
}

}  // namespace

std::string unit_table(const PlannedScenario& planned, const TextStyle& style) {
  const StepPlan& plan = planned.plan.steady;
  TextTable table({{"unit", Align::left},
                   {"module", Align::left, true, 20},
                   {"class", Align::left, true, 12, 3},
                   {"parameters"},
                   {"padded", Align::right, false, 8, 2},
                   {"gathered"},
                   {"segments", Align::left, true, 8, 1}});
  const std::vector<AlikeUnits> rows = alike_units(planned, plan);
  for (std::size_t unit = 0; unit < plan.units.size(); ++unit) {
    const AlikeUnits& row = row_of(rows, unit);
    if (row.units.size() < k_folded) {
      table.add(cells(plan.units[unit].name, plan.units[unit].module_path, row, segments_of(plan, unit)));
    } else if (row.units.front() == unit) {
      table.add(cells(names_of(plan, row), row.path, row, ""));
    }
  }
  return table.text(style);
}

}  // namespace shardlab
