// Which modules become units, as the scenario says it (`parallel.wrap`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"

namespace shardlab {

enum class WrapPolicyKind : std::uint8_t {
  none,
  transformer,
  size,
  lambda,
  any_of,
  module,
  owners,  // every module that has parameters of its own
};
template <>
inline constexpr auto k_words<WrapPolicyKind> =
    std::to_array<Word<WrapPolicyKind>>({{WrapPolicyKind::none, "none"},
                                         {WrapPolicyKind::transformer, "transformer"},
                                         {WrapPolicyKind::size, "size"},
                                         {WrapPolicyKind::lambda, "lambda"},
                                         {WrapPolicyKind::any_of, "or"},
                                         {WrapPolicyKind::module, "module"},
                                         {WrapPolicyKind::owners, "owners"}});

// Which parameters the policy `size` counts: those left after the children were wrapped, or all.
enum class SizeRule : std::uint8_t { remainder, plain };
template <>
inline constexpr auto k_words<SizeRule> = std::to_array<Word<SizeRule>>({{SizeRule::remainder, "remainder"},
                                                                         {SizeRule::plain, "plain"}});

// A pattern over modules; empty fields match everything.
struct WrapMatch {
  std::string path;  // pattern over the module path (base/path_pattern.h)
  std::string class_name;
  std::optional<std::int64_t> min_params;  // elements of the module and all below it
  std::optional<std::int64_t> max_params;
  friend bool operator==(const WrapMatch&, const WrapMatch&) = default;
};

// Settings of the units that a pattern selects, as the scenario's own keys ("reshard_after_forward",
// "precision.param" ...).
struct WrapOverride {
  WrapMatch match;
  std::map<std::string, std::string> settings;
  friend bool operator==(const WrapOverride&, const WrapOverride&) = default;
};

struct WrapSpec {
  WrapPolicyKind policy = WrapPolicyKind::transformer;
  std::vector<std::string> classes;  // transformer, module; empty: the layer class of the model's family
  std::int64_t min_params = 100'000'000;
  SizeRule rule = SizeRule::remainder;
  std::vector<WrapMatch> match;  // lambda
  std::vector<WrapSpec> any;     // or
  std::vector<WrapOverride> overrides;
  std::vector<std::string> ignored;
  std::vector<std::vector<std::string>> together;  // each list: modules of one unit
  friend bool operator==(const WrapSpec&, const WrapSpec&) = default;
};

}  // namespace shardlab
