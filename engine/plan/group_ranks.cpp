#include "engine/plan/group_ranks.h"

#include <array>
#include <numeric>
#include <string_view>

#include "engine/model/join_teacher.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {
namespace {

// "shard/2" -> "shard": the dimension that the group lies along.
std::string_view dimension_of(std::string_view expression) {
  if (expression.starts_with(k_teacher_prefix)) expression.remove_prefix(k_teacher_prefix.size());
  return expression.substr(0, expression.find('/'));
}

}  // namespace

std::vector<int> ranks_of_group(const Group& group, const Scenario& scenario, int rank) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const bool teachers = group.expression.starts_with(k_teacher_prefix);
  const ResolvedMesh mesh = resolve_mesh(teachers ? teacher_scenario(scenario) : scenario);
  const std::array<std::pair<std::string_view, int>, 4> inner_first = {{{"expert", mesh.expert},
                                                                        {"tensor", mesh.tensor},
                                                                        {"shard", mesh.shard},
                                                                        {"replicate", mesh.replicate}}};
  int stride = 1;
  for (const auto& [name, extent] : inner_first) {
    if (name == dimension_of(group.expression)) {
      const int place = rank / stride % extent;
      const int first = rank - place % group.size * stride;
      for (int& member : ranks) member = first + member * stride;
      return ranks;
    }
    stride *= extent;
  }
  return ranks;  // "world"
}

std::string sub_group(std::string_view dimension, int size) {
  return std::string(dimension) + '/' + std::to_string(size);
}

}  // namespace shardlab
