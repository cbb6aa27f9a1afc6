#include "engine/execute/mask_seeds.h"

#include "engine/base/hash.h"
#include "engine/execute/training_data.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {

std::vector<std::uint64_t> mask_seeds(const Scenario& scenario, std::int64_t step, int rank, int micro_batch,
                                      std::size_t operation) {
  const std::int64_t first = batch_order(scenario).first(step, rank, micro_batch);
  const auto run = splitmix64(static_cast<std::uint64_t>(scenario.train->seed));
  const std::uint64_t of_operator = splitmix64(run + operation + 1);
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < scenario.train->micro_batch; ++i)
    seeds.push_back(splitmix64(of_operator + static_cast<std::uint64_t>(first + i) + 1));
  return seeds;
}

}  // namespace shardlab
