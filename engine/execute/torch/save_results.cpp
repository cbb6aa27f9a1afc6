#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/execute/torch/save_results.h"

namespace shardlab {

Status save_weights(RankExecutor& executor, const ModelGraph& graph, int rank,
                    const std::filesystem::path& path) {
  std::vector<at::Tensor> tensors;
  std::vector<TensorToWrite> entries;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    if (graph.is_teachers(make_id<ParameterId>(i))) break;  // they are what they were
    const Parameter& parameter = graph.parameters[i];
    SHARDLAB_TRY(at::Tensor tensor, executor.full_parameter(parameter.name));
    if (rank != 0) continue;
    tensor = tensor.contiguous();
    const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
    entries.push_back({parameter.name, parameter.dtype, parameter.shape, {data, tensor.nbytes()}});
    tensors.push_back(std::move(tensor));  // keeps what the entry points to
  }
  if (rank != 0) return {};
  return write_safetensors(path, entries);
}

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
  return write_output_file(path, nlohmann::json{{"layers", std::move(layers)}}.dump(1) + "\n");
}

}  // namespace shardlab
