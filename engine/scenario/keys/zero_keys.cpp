#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "engine/scenario/keys/sections.h"

namespace shardlab {
namespace {

enum class Shape { boolean, count, text, leaves };

struct ZeroKey {
  std::string_view name;
  Shape shape;
};

// DeepSpeed 0.19, zero/config.py, without what other keys of a scenario say (stage, offload_param,
// offload_optimizer), and the two dtypes of its top level and of its data_types section.
constexpr std::array k_zero_keys{
    ZeroKey{"contiguous_gradients", Shape::boolean},
    ZeroKey{"reduce_scatter", Shape::boolean},
    ZeroKey{"reduce_bucket_size", Shape::count},
    ZeroKey{"use_multi_rank_bucket_allreduce", Shape::boolean},
    ZeroKey{"allgather_partitions", Shape::boolean},
    ZeroKey{"allgather_bucket_size", Shape::count},
    ZeroKey{"overlap_comm", Shape::boolean},
    ZeroKey{"compute_grad_norm", Shape::boolean},
    ZeroKey{"load_from_fp32_weights", Shape::boolean},
    ZeroKey{"round_robin_gradients", Shape::boolean},
    ZeroKey{"ignore_unused_parameters", Shape::boolean},
    ZeroKey{"legacy_stage1", Shape::boolean},
    ZeroKey{"sub_group_size", Shape::count},
    ZeroKey{"stage3_prefetch_bucket_size", Shape::count},
    ZeroKey{"stage3_param_persistence_threshold", Shape::count},
    ZeroKey{"stage3_model_persistence_threshold", Shape::count},
    ZeroKey{"stage3_max_live_parameters", Shape::count},
    ZeroKey{"stage3_max_reuse_distance", Shape::count},
    ZeroKey{"stage3_gather_16bit_weights_on_model_save", Shape::boolean},
    ZeroKey{"stage3_module_granularity_threshold", Shape::count},
    ZeroKey{"stage3_use_all_reduce_for_fetch_params", Shape::boolean},
    ZeroKey{"stage3_allgather_sequential", Shape::boolean},
    ZeroKey{"zero_hpz_partition_size", Shape::count},
    ZeroKey{"zero_quantized_weights", Shape::boolean},
    ZeroKey{"zero_quantized_nontrainable_weights", Shape::boolean},
    ZeroKey{"zero_quantized_gradients", Shape::boolean},
    ZeroKey{"memory_efficient_linear", Shape::boolean},
    ZeroKey{"pipeline_loading_checkpoint", Shape::boolean},
    ZeroKey{"override_module_apply", Shape::boolean},
    ZeroKey{"log_trace_cache_warnings", Shape::boolean},
    ZeroKey{"enable_sanity_checks", Shape::boolean},
    ZeroKey{"save_muon_momentum_buffer_in_memory", Shape::boolean},
    ZeroKey{"leaf_module", Shape::leaves},
    ZeroKey{"grad_accum_dtype", Shape::text},
    ZeroKey{"communication_data_type", Shape::text},
};

bool is_text_or_texts(const nlohmann::json& value) {
  return value.is_string() ||
         (value.is_array() && std::all_of(value.begin(), value.end(),
                                          [](const nlohmann::json& item) { return item.is_string(); }));
}

// leaf_module_config.py; nothing is as if it were not there.
bool names_leaves(const nlohmann::json& value) {
  if (value.is_null()) return true;
  const auto is_known = [](const auto& entry) {
    return (entry.key() == "classes" || entry.key() == "names" || entry.key() == "name_suffixes") &&
           is_text_or_texts(entry.value());
  };
  const auto entries = value.items();
  return value.is_object() && std::all_of(entries.begin(), entries.end(), is_known);
}

bool fits(Shape shape, const nlohmann::json& value) {
  switch (shape) {
    case Shape::boolean: return value.is_boolean();
    case Shape::count: return value.is_number_integer() && value.get<std::int64_t>() >= 0;
    case Shape::text: return value == "fp32" || value == "bf16" || value == "fp16";
    case Shape::leaves: return names_leaves(value);
  }
  return false;
}

std::string_view expected(Shape shape) {
  switch (shape) {
    case Shape::boolean: return "true or false";
    case Shape::count: return "a whole number of 0 or more";
    case Shape::text: return "fp32, bf16 or fp16";
    case Shape::leaves: return "a map of classes, names and name_suffixes, each a text or a list of texts";
  }
  return "";
}

// Sharding within groups, which older versions had.
constexpr std::string_view k_mics = "mics_";

const YamlEntry* find_mics(const YamlNode& node) {
  for (const YamlEntry& entry : node.entries) {
    if (entry.key.starts_with(k_mics)) return &entry;
  }
  return nullptr;
}

}  // namespace

Kind<std::map<std::string, std::string>> zero_kind() {
  std::vector<std::string> names;
  for (const ZeroKey& zero : k_zero_keys) names.emplace_back(zero.name);
  auto map = kind::json_map(names);
  const auto read_map = map.read;
  map.read = [read_map](const YamlNode& node,
                        std::string_view name) -> Result<std::map<std::string, std::string>> {
    if (const YamlEntry* const mics = find_mics(node))
      return bad_input(mics->place, fmt::format("{}: DeepSpeed 0.19.8 has no MiCS", mics->key),
                       "parallel.mesh.replicate shards within groups, under a strategy that has replicas");
    SHARDLAB_TRY(auto values, read_map(node, name));
    for (const ZeroKey& zero : k_zero_keys) {
      const auto found = values.find(std::string(zero.name));
      if (found == values.end() || fits(zero.shape, nlohmann::json::parse(found->second, nullptr, false)))
        continue;
      return bad_input(node.find(zero.name)->place, fmt::format("{}: expected {}, found {}", zero.name,
                                                                expected(zero.shape), found->second));
    }
    return values;
  };
  return map;
}

}  // namespace shardlab
