#include "engine/execute/torch/save_weights.h"

#include <vector>

#include "engine/checkpoint/safetensors.h"

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

}  // namespace shardlab
