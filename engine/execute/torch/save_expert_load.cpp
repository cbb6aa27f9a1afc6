#include "engine/execute/torch/save_expert_load.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace shardlab {

// An average over ranks; the readers of the file want shares.
Status save_expert_load(const RankExecutor& executor, const ModelGraph& graph, const World& world,
                        const std::filesystem::path& path) {
  nlohmann::json layers = nlohmann::json::array();
  const int ranks = world.communicator() == nullptr ? 1 : world.communicator()->size();
  for (const auto& [op, counts] : executor.expert_counts()) {
    nlohmann::json assignments = nlohmann::json::array();
    for (const std::int64_t count : counts) {
      SHARDLAB_TRY(const double mean, world.mean(static_cast<double>(count), "the load of experts"));
      assignments.push_back(std::llround(mean * ranks));
    }
    layers.push_back(
        {{"module", graph.module(graph.op(op).module).path}, {"assignments", std::move(assignments)}});
  }
  if (executor.rank() != 0) return {};
  std::ofstream file(path, std::ios::trunc);
  file << nlohmann::json{{"layers", std::move(layers)}}.dump(1) << "\n";
  file.close();
  if (!file) return run_failed(in_file(path.string()), "cannot be written", "is the disk full?");
  return {};
}

}  // namespace shardlab
