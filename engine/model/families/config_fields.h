// Fields of config.json that several families share, read with the checks and defaults of transformers 5.
#pragma once

#include <initializer_list>
#include <string>

#include "engine/base/result.h"
#include "engine/model/families/decoder_parts.h"
#include "engine/model/graph_builder.h"
#include "engine/model/model_config.h"

namespace shardlab {

// A share of dropout, from 0 to 1: the option's, else the field's. `fallback`: the family's default when the
// field is absent.
Result<double> read_dropout(const ModelConfig& config, const GraphOptions& options, const char* key,
                            double fallback = 0);

// Refuses all but 0 where the family's modules never look at the field.
Status refuse_dropout(const ModelConfig& config, std::initializer_list<const char*> keys);

// Refuses true where a field asks for what is not built.
Status refuse_if_true(const ModelConfig& config, std::initializer_list<const char*> keys);

// The activation by its name in transformers, and the class of its module there.
struct NamedActivation {
  Activation activation = Activation::silu;
  const char* class_name = "";
};
Result<NamedActivation> read_activation(const ModelConfig& config, const std::string& key,
                                        const char* fallback);

// The head count's divisors: hidden_size by heads, heads by key-value heads.
Status check_divides(const ModelConfig& config, const char* what, std::int64_t number, const char* by,
                     std::int64_t divisor);

// pad_token_id, where the family hands it to its embedding: below the vocabulary; negative ones count from
// its end, null is none.
Result<std::optional<std::int64_t>> read_padding(const ModelConfig& config, std::int64_t vocabulary,
                                                 std::optional<std::int64_t> fallback = {});

// Sequences that a learned or alibi table of `positions` rows, or the model's training, allows.
Status check_positions(const GraphOptions& options, const char* key, std::int64_t positions);

// rope_parameters (transformers 5), or rope_theta, rope_scaling and partial_rotary_factor before it. Kinds:
// default, linear, dynamic, llama3, yarn.
struct RopeFields {
  Attributes table;             // attributes of the constant
  std::int64_t rotary_dim = 0;  // elements of a head that are turned
  bool any_length = false;      // dynamic: sequences may be longer than max_position_embeddings
};
struct RopeDefaults {
  double theta = 10000;
  double partial = 1;  // share of a head that is turned
};
Result<RopeFields> read_rope(const ModelConfig& config, const GraphOptions& options, std::int64_t head_dim,
                             std::int64_t positions, RopeDefaults defaults = {});

}  // namespace shardlab
