// Source: transformers 5.23, modeling_rope_utils.py.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

#include "engine/model/constants.h"
#include "engine/model/families/config_fields.h"

namespace shardlab {
namespace {

struct RopeReader {
  const ModelConfig& config;
  ModelConfig rope;  // the nested object; empty when there is none
  double theta;
  std::int64_t rotary_dim, positions;

  // Fields of scaling that transformers requires.
  Result<double> required(const char* key) const {
    if (!rope.has(key))
      return bad_input(in_file(rope.file()),
                       fmt::format("{}: missing, and this kind of scaling needs it", key));
    return positive(key, 1);
  }
  Result<double> positive(const char* key, double fallback) const {
    SHARDLAB_TRY(const double value, rope.number_or(key, fallback));
    if (!(value > 0) || !std::isfinite(value))
      return bad_input(in_file(rope.file()), fmt::format("{}: must be positive", key));
    return value;
  }

  // The base grows once the sequence is longer than what the model was trained for.
  Result<Attributes> dynamic(std::int64_t sequence) const {
    SHARDLAB_TRY(const double factor, required("factor"));
    const double length = static_cast<double>(std::max(sequence, positions)) / static_cast<double>(positions);
    const auto dim = static_cast<double>(rotary_dim);
    const double base = theta * std::pow(factor * length - (factor - 1), dim / (dim - 2));
    return rope_table_attributes(base, RopeScaling::none, 1, 1, 4, 8192);
  }

  Result<Attributes> llama3() const {
    SHARDLAB_TRY(const double factor, positive("factor", 1));
    SHARDLAB_TRY(const double low, positive("low_freq_factor", 1));
    SHARDLAB_TRY(const double high, positive("high_freq_factor", 4));
    SHARDLAB_TRY(const double original,
                 positive("original_max_position_embeddings", static_cast<double>(positions)));
    if (!(high > low))
      return bad_input(in_file(rope.file()), "high_freq_factor must be above low_freq_factor");
    return rope_table_attributes(theta, RopeScaling::llama3, factor, low, high, original);
  }

  // The pair that turns `rotations` times within the original positions.
  double pair_of(double rotations, double original) const {
    return static_cast<double>(rotary_dim) * std::log(original / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(theta));
  }

  static double amplitude_of(double factor, double scale) {
    return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
  }

  Result<double> amplitude(double factor) const {
    if (rope.has("attention_factor")) return positive("attention_factor", 1);
    SHARDLAB_TRY(const double scale, rope.number_or("mscale", 0));
    SHARDLAB_TRY(const double scale_all, rope.number_or("mscale_all_dim", 0));
    if (scale != 0 && scale_all != 0) return amplitude_of(factor, scale) / amplitude_of(factor, scale_all);
    return amplitude_of(factor, 1);
  }

  Result<Attributes> yarn() const {
    SHARDLAB_TRY(const double original,
                 positive("original_max_position_embeddings", static_cast<double>(positions)));
    SHARDLAB_TRY(const double factor, positive("factor", static_cast<double>(positions) / original));
    SHARDLAB_TRY(const double fast, positive("beta_fast", 32));
    SHARDLAB_TRY(const double slow, positive("beta_slow", 1));
    SHARDLAB_TRY(const bool truncate, rope.boolean_or("truncate", true));
    SHARDLAB_TRY(const double amplitude_, amplitude(factor));
    if (!(theta > 1)) return bad_input(in_file(rope.file()), "rope_theta: yarn needs more than 1");
    double low = pair_of(fast, original), high = pair_of(slow, original);
    if (truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(rotary_dim - 1));
    if (low == high) high += 0.001;
    return yarn_table_attributes(theta, factor, low, high, amplitude_);
  }
};

Result<std::int64_t> read_rotary_dim(const ModelConfig& config, const ModelConfig& rope,
                                     std::int64_t head_dim, double fallback) {
  SHARDLAB_TRY(const double top, config.number_or("partial_rotary_factor", fallback));
  SHARDLAB_TRY(const double share, rope.number_or("partial_rotary_factor", top));
  if (!(share > 0) || share > 1)
    return bad_input(in_file(config.file()), "partial_rotary_factor: must be above 0 and at most 1");
  const auto rotary_dim = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
  if (rotary_dim % 2 != 0 || rotary_dim == 0) {
    return bad_input(in_file(config.file()),
                     fmt::format("head_dim {}{}: rotary embedding turns pairs, so the turned part, {}, "
                                 "must be even and not 0",
                                 head_dim, share < 1 ? " with partial_rotary_factor" : "", rotary_dim));
  }
  return rotary_dim;
}

}  // namespace

Result<RopeFields> read_rope(const ModelConfig& config, const GraphOptions& options, std::int64_t head_dim,
                             std::int64_t positions, RopeDefaults defaults) {
  SHARDLAB_TRY(const double top_theta, config.number_or("rope_theta", defaults.theta));
  const char* key = config.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  SHARDLAB_TRY(ModelConfig rope, config.object_or_empty(key));
  SHARDLAB_TRY(const double theta, rope.number_or("rope_theta", top_theta));
  SHARDLAB_TRY(const std::string old_type, rope.text_or("type", "default"));
  SHARDLAB_TRY(const std::string type, rope.text_or("rope_type", old_type));
  SHARDLAB_TRY(const std::int64_t rotary_dim, read_rotary_dim(config, rope, head_dim, defaults.partial));
  if (!(theta > 0) || !std::isfinite(theta))
    return bad_input(in_file(rope.file()), "rope_theta: must be positive");
  const RopeReader reader{config, std::move(rope), theta, rotary_dim, positions};
  RopeFields fields{{}, rotary_dim, type == "dynamic"};
  if (type == "default") {
    fields.table = rope_table_attributes(theta, RopeScaling::none, 1, 1, 4, 8192);
  } else if (type == "linear") {
    SHARDLAB_TRY(const double factor, reader.required("factor"));
    fields.table = rope_table_attributes(theta, RopeScaling::linear, factor, 1, 4, 8192);
  } else if (type == "dynamic") {
    SHARDLAB_TRY(fields.table, reader.dynamic(options.sequence_length));
  } else if (type == "llama3") {
    SHARDLAB_TRY(fields.table, reader.llama3());
  } else if (type == "yarn") {
    SHARDLAB_TRY(fields.table, reader.yarn());
  } else {
    return bad_input(in_file(reader.rope.file()), "rope_type: not supported yet: " + type,
                     "supported: default, linear, dynamic, llama3, yarn");
  }
  return fields;
}

}  // namespace shardlab
