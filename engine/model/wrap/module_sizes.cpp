#include "engine/model/wrap/module_sizes.h"

#include <algorithm>

namespace shardlab {
namespace {

// A further registration of a parameter counts in the modules around it that hold no earlier one.
void add_tied(const ModelGraph& graph, ModuleId owner, const std::vector<ModuleId>& earlier,
              std::int64_t elements, std::vector<std::int64_t>& sums) {
  for (std::optional<ModuleId> around = owner; around; around = graph.module(*around).parent) {
    const bool counted = std::any_of(earlier.begin(), earlier.end(),
                                     [&](ModuleId other) { return lies_within(graph, other, *around); });
    if (!counted) sums[around->index()] += elements;
  }
}

}  // namespace

std::vector<std::int64_t> module_elements(const ModelGraph& graph, const std::vector<bool>& left_out) {
  std::vector<std::int64_t> sums(graph.modules.size(), 0);
  std::vector<std::pair<ParameterId, ModuleId>> tied;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    const auto owner = make_id<ModuleId>(i);
    for (const ParameterId id : graph.modules[i].parameters) {
      if (left_out[id.index()]) continue;
      if (graph.parameter(id).module != owner) {
        tied.emplace_back(id, owner);
        continue;
      }
      for (std::optional<ModuleId> around = owner; around; around = graph.module(*around).parent) {
        sums[around->index()] += graph.parameter(id).elements();
      }
    }
  }
  for (std::size_t i = 0; i < tied.size(); ++i) {
    std::vector<ModuleId> earlier{graph.parameter(tied[i].first).module};
    for (std::size_t j = 0; j < i; ++j) {
      if (tied[j].first == tied[i].first) earlier.push_back(tied[j].second);
    }
    add_tied(graph, tied[i].second, earlier, graph.parameter(tied[i].first).elements(), sums);
  }
  return sums;
}

bool lies_within(const ModelGraph& graph, ModuleId inner, ModuleId outer) {
  for (std::optional<ModuleId> around = inner; around; around = graph.module(*around).parent) {
    if (*around == outer) return true;
  }
  return false;
}

bool lies_within_any(const ModelGraph& graph, ModuleId inner, std::span<const ModuleId> outer) {
  return std::any_of(outer.begin(), outer.end(),
                     [&](ModuleId each) { return lies_within(graph, inner, each); });
}

}  // namespace shardlab
