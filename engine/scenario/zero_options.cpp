#include "engine/scenario/zero_options.h"

#include <nlohmann/json.hpp>

#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/scenario.h"

namespace shardlab {
namespace {

class Reader {
 public:
  explicit Reader(const std::map<std::string, std::string>& zero) : zero_(zero) {}

  template <typename T>
  void read(const char* key, T& value) const {
    const auto found = zero_.find(key);
    if (found != zero_.end()) value = nlohmann::json::parse(found->second).get<T>();
  }

  // A text stands for a list of one.
  void read(const char* key, LeafSpec& leaves) const {
    nlohmann::json said;
    read(key, said);
    const auto take = [&](const char* part, std::vector<std::string>& texts) {
      if (!said.contains(part)) return;
      if (said[part].is_string()) said[part] = nlohmann::json::array({said[part]});
      texts = said[part].get<std::vector<std::string>>();
    };
    take("classes", leaves.classes);
    take("names", leaves.names);
    take("name_suffixes", leaves.name_suffixes);
  }

  void read(const char* key, std::optional<bool>& value) const {
    bool given = false;
    read(key, given);
    if (zero_.contains(key)) value = given;
  }

  void read(const char* key, std::optional<DType>& value) const {
    std::string text;
    read(key, text);
    if (text == "fp32") value = DType::float32;
    if (text == "bf16") value = DType::bfloat16;
    if (text == "fp16") value = DType::float16;
  }

 private:
  const std::map<std::string, std::string>& zero_;
};

}  // namespace

ZeroOptions zero_options(const std::map<std::string, std::string>& zero) {
  ZeroOptions options;
  const Reader reader(zero);
  reader.read("reduce_bucket_size", options.reduce_bucket_size);
  reader.read("contiguous_gradients", options.contiguous_gradients);
  reader.read("reduce_scatter", options.reduce_scatter);
  reader.read("use_multi_rank_bucket_allreduce", options.use_multi_rank_bucket_allreduce);
  reader.read("overlap_comm", options.overlap_comm);
  reader.read("stage3_prefetch_bucket_size", options.prefetch_bucket_size);
  reader.read("stage3_param_persistence_threshold", options.param_persistence_threshold);
  reader.read("stage3_model_persistence_threshold", options.model_persistence_threshold);
  reader.read("stage3_max_live_parameters", options.max_live_parameters);
  reader.read("stage3_max_reuse_distance", options.max_reuse_distance);
  reader.read("sub_group_size", options.sub_group_size);
  reader.read("stage3_allgather_sequential", options.allgather_sequential);
  reader.read("zero_quantized_weights", options.quantized_weights);
  reader.read("zero_quantized_gradients", options.quantized_gradients);
  reader.read("zero_hpz_partition_size", options.hpz_partition_size);
  if (options.allgather_sequential) options.prefetch_bucket_size = 1;
  reader.read("leaf_module", options.leaf_module);
  reader.read("round_robin_gradients", options.round_robin_gradients);
  reader.read("compute_grad_norm", options.compute_grad_norm);
  reader.read("grad_accum_dtype", options.grad_accum_dtype);
  reader.read("communication_data_type", options.communication_data_type);
  return options;
}

bool has_effect_under(std::string_view key, int stage) {
  if (key == "round_robin_gradients" || key == "use_multi_rank_bucket_allreduce" ||
      key == "compute_grad_norm")
    return stage < 3;
  const bool of_stage_3 = key.starts_with("stage3_") || key.starts_with("zero_") || key == "sub_group_size" ||
                          key == "memory_efficient_linear" || key == "leaf_module";
  return !of_stage_3 || stage == 3;
}

ZeroOptions zero_options(const Scenario& scenario) {
  return zero_options(scenario.parallel->zero);
}

const std::map<std::string, std::string>& zero_settings(const Scenario& scenario) {
  return scenario.parallel->zero;
}

}  // namespace shardlab
