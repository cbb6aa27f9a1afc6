#include "engine/model/wrap/tied_units.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/model/wrap/module_sizes.h"

namespace shardlab {
namespace {

struct Units {
  std::span<const ModuleId> single;
  std::span<const JoinedModules> joined;

  // The unit that this module makes, alone or with others: by its first module.
  std::optional<ModuleId> of(ModuleId module) const {
    for (const JoinedModules& modules : joined) {
      if (std::find(modules.begin(), modules.end(), module) != modules.end()) return modules.front();
    }
    if (std::find(single.begin(), single.end(), module) != single.end()) return module;
    return std::nullopt;
  }
};

// The modules of units around a module, innermost first, up to `limit` (not included).
std::vector<ModuleId> units_around(const ModelGraph& graph, const Units& units, ModuleId module,
                                   ModuleId limit) {
  std::vector<ModuleId> around;
  for (ModuleId m = module; m != limit; m = *graph.module(m).parent) {
    if (units.of(m)) around.push_back(m);
  }
  return around;
}

// The innermost module that holds both.
ModuleId common_module(const ModelGraph& graph, ModuleId a, ModuleId b) {
  while (!lies_within(graph, b, a)) a = *graph.module(a).parent;
  return a;
}

std::string unit_name(const ModelGraph& graph, const std::vector<ModuleId>& around) {
  return around.empty() ? "a unit around both" : "the unit '" + graph.module(around.front()).path + "'";
}

Status check(const ModelGraph& graph, const Units& units, const Parameter& parameter, ModuleId other) {
  const ModuleId common = common_module(graph, parameter.module, other);
  const std::vector<ModuleId> first = units_around(graph, units, parameter.module, common);
  const std::vector<ModuleId> second = units_around(graph, units, other, common);
  if (first.empty() && second.empty()) return {};
  if (!first.empty() && !second.empty() && units.of(first.front()) == units.of(second.front())) return {};
  std::vector<std::string> apart;
  for (const auto* around : {&first, &second}) {
    for (const ModuleId id : *around) apart.push_back("'" + graph.module(id).path + "'");
  }
  return bad_input("parallel.wrap",
                   fmt::format("splits the tied parameter '{}': '{}' falls into {}, '{}' into {}. Tied "
                               "parameters must be in one unit",
                               parameter.name, graph.module(parameter.module).path, unit_name(graph, first),
                               graph.module(other).path, unit_name(graph, second)),
                   fmt::format("leave {} unwrapped: policy transformer with its default classes does",
                               fmt::join(apart, ", ")));
}

}  // namespace

Status check_tied_parameters(const ModelGraph& graph, std::span<const ModuleId> single,
                             std::span<const JoinedModules> joined) {
  const Units units{single, joined};
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    for (const ParameterId id : graph.modules[i].parameters) {
      const Parameter& parameter = graph.parameter(id);
      if (parameter.module.index() != i)
        SHARDLAB_CHECK_OK(check(graph, units, parameter, make_id<ModuleId>(i)));
    }
  }
  return {};
}

}  // namespace shardlab
