#include "engine/plan/group_ranks.h"

#include <array>
#include <numeric>
#include <string_view>

#include "engine/scenario/mesh.h"

namespace shardlab {

std::vector<int> ranks_of_group(const Group& group, const Scenario& scenario, int rank) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const ResolvedMesh mesh = resolve_mesh(scenario);
  const std::array<std::pair<std::string_view, int>, 4> inner_first = {{{"expert", mesh.expert},
                                                                        {"tensor", mesh.tensor},
                                                                        {"shard", mesh.shard},
                                                                        {"replicate", mesh.replicate}}};
  int stride = 1;
  for (const auto& [name, extent] : inner_first) {
    if (name == group.expression) {
      const int first = rank - rank / stride % extent * stride;
      for (int& member : ranks) member = first + member * stride;
      return ranks;
    }
    stride *= extent;
  }
  return ranks;  // "world"
}

}  // namespace shardlab
