#include "engine/execute/torch/world.h"

#include <numeric>
#include <vector>

#include <ATen/ops/full.h>

namespace shardlab {

Result<World> World::connect(const Rendezvous& rendezvous, const RankEnvironment& environment) {
  World world;
  if (environment.world == 1) return world;
  std::vector<int> ranks(static_cast<std::size_t>(environment.world));
  std::iota(ranks.begin(), ranks.end(), 0);
  SHARDLAB_TRY(world.communicator_, rendezvous.communicator("world", ranks, environment.rank));
  return world;
}

void World::align() const {
  if (communicator_) communicator_->barrier();
}

double World::mean(double value) const {
  if (!communicator_) return value;
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  communicator_->all_reduce(sum, ReduceOperation::average)->wait();
  return *sum.const_data_ptr<double>();
}

}  // namespace shardlab
