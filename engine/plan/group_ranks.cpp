#include "engine/plan/group_ranks.h"

#include <array>
#include <numeric>
#include <utility>

#include "engine/scenario/mesh.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {

std::vector<int> ranks_of_group(const Group& group, const Scenario& scenario, int rank) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const ResolvedMesh mesh = resolve_mesh(group.ranks.teachers ? teacher_scenario(scenario) : scenario);
  using D = GroupDimension;
  const std::array<std::pair<D, int>, 4> inner_first = {{{D::expert, mesh.expert},
                                                         {D::tensor, mesh.tensor},
                                                         {D::shard, mesh.shard},
                                                         {D::replicate, mesh.replicate}}};
  int stride = 1;
  for (const auto& [dimension, extent] : inner_first) {
    if (dimension == group.ranks.dimension) {
      const int place = rank / stride % extent;
      const bool across = group.ranks.across;
      const int first = across ? place % group.ranks.part : place - place % group.size;
      const int apart = across ? group.ranks.part : 1;
      for (int& member : ranks) member = rank + (first + member * apart - place) * stride;
      return ranks;
    }
    stride *= extent;
  }
  return ranks;  // all of the world
}

std::vector<std::vector<int>> rank_sets_of_group(const Group& group, const Scenario& scenario, int ranks) {
  std::vector<std::vector<int>> sets;
  std::vector<bool> is_in_one(static_cast<std::size_t>(ranks), false);
  for (int rank = 0; rank < ranks; ++rank) {
    if (is_in_one[static_cast<std::size_t>(rank)]) continue;
    sets.push_back(ranks_of_group(group, scenario, rank));
    for (const int member : sets.back()) {
      if (member < ranks) is_in_one[static_cast<std::size_t>(member)] = true;
    }
  }
  return sets;
}

}  // namespace shardlab
