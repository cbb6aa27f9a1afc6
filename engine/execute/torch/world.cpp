#include "engine/execute/torch/world.h"

#include <exception>
#include <numeric>
#include <vector>

#include <ATen/ops/full.h>
#include <fmt/format.h>

#include "engine/execute/torch/step_failure.h"

namespace shardlab {

Result<World> World::connect(const Rendezvous& rendezvous, const RankEnvironment& environment) {
  World world;
  world.rank_ = environment.rank;
  if (environment.world == 1) return world;
  std::vector<int> ranks(static_cast<std::size_t>(environment.world));
  std::iota(ranks.begin(), ranks.end(), 0);
  SHARDLAB_TRY(world.communicator_, rendezvous.communicator("run", ranks, environment.rank));
  return world;
}

Status World::align(const std::string& place) const {
  const Result<double> met = mean(0, place);
  if (!met) return fail(met.error());
  return {};
}

Result<double> World::mean(double value, const std::string& place) const {
  if (!communicator_) return value;
  try {
    const at::Tensor sum = at::full({1}, value, at::kDouble);
    communicator_->all_reduce(sum, ReduceOperation::average)->wait();
    return *sum.const_data_ptr<double>();
  } catch (const std::exception& error) {
    return fail(Error{ErrorKind::run_failed, on_rank(rank_, place), first_line(error.what()), "",
                      ErrorCode::lost_peer});
  }
}

}  // namespace shardlab
