#include "engine/model/families/config_fields.h"

#include <cmath>

#include <fmt/core.h>

#include "engine/base/nearest.h"

namespace shardlab {

Result<double> read_dropout(const ModelConfig& config, const GraphOptions& options, const char* key,
                            double fallback) {
  SHARDLAB_TRY(const double share, config.number_or(key, fallback));
  if (share < 0 || share > 1)
    return bad_input(in_file(config.file()), fmt::format("{}: {} is no share from 0 to 1", key, share));
  return options.dropout.value_or(share);
}

Status refuse_dropout(const ModelConfig& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    SHARDLAB_TRY(const double share, config.number_or(key, 0));
    if (share == 0) continue;
    return bad_input(
        in_file(config.file()),
        fmt::format("{}: {} has no effect: the modules of this family drop nothing there", key, share),
        fmt::format("set it to 0, in the file or by model.overrides.{}", key));
  }
  return {};
}

Status refuse_if_true(const ModelConfig& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    SHARDLAB_TRY(const bool value, config.boolean_or(key, false));
    if (value)
      return bad_input(in_file(config.file()), std::string(key) + ": not supported yet: true",
                       "supported: false");
  }
  return {};
}

Result<NamedActivation> read_activation(const ModelConfig& config, const std::string& key,
                                        const char* fallback) {
  SHARDLAB_TRY(const std::string name, config.text_or(key, fallback));
  if (name == "silu" || name == "swish") return NamedActivation{Activation::silu, "SiLUActivation"};
  if (name == "gelu") return NamedActivation{Activation::gelu, "GELUActivation"};
  if (name == "gelu_new") return NamedActivation{Activation::gelu_tanh, "NewGELUActivation"};
  if (name == "gelu_pytorch_tanh") return NamedActivation{Activation::gelu_tanh, "GELUTanh"};
  return bad_input(in_file(config.file()), fmt::format("{}: not supported yet: {}", key, name),
                   "supported: silu, gelu, gelu_new, gelu_pytorch_tanh");
}

Status check_divides(const ModelConfig& config, const char* what, std::int64_t number, const char* by,
                     std::int64_t divisor) {
  if (divisor > 0 && number % divisor == 0) return {};
  return bad_input(in_file(config.file()),
                   fmt::format("{} {} must be a multiple of {} {}", what, number, by, divisor));
}

Result<std::optional<std::int64_t>> read_padding(const ModelConfig& config, std::int64_t vocabulary,
                                                 std::optional<std::int64_t> fallback) {
  constexpr const char* key = "pad_token_id";
  if (config.is_null(key)) return std::nullopt;
  if (!config.has(key)) return fallback;
  SHARDLAB_TRY(const double token, config.number_or(key, 0));
  const double from_start = token < 0 ? token + static_cast<double>(vocabulary) : token;
  if (from_start < 0 || from_start >= static_cast<double>(vocabulary) || from_start != std::floor(from_start))
    return bad_input(in_file(config.file()),
                     fmt::format("{}: {} is no token of a vocabulary of {}", key, token, vocabulary));
  return static_cast<std::int64_t>(from_start);
}

Status check_positions(const GraphOptions& options, const char* key, std::int64_t positions) {
  if (options.sequence_length <= positions) return {};
  return bad_input("model.sequence_length",
                   fmt::format("{} is above the model's {} {}", options.sequence_length, key, positions),
                   fmt::format("shorten the sequence or override {}", key));
}

}  // namespace shardlab
