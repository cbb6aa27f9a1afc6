// Which modules become units, as the scenario says it (`parallel.wrap`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardlab {

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
  std::string policy = "transformer";  // none transformer size lambda or module
  std::vector<std::string> classes;    // transformer, module; empty: the layer class of the model's family
  std::int64_t min_params = 100'000'000;
  std::string rule = "remainder";  // remainder plain
  std::vector<WrapMatch> match;    // lambda
  std::vector<WrapSpec> any;       // or
  std::vector<WrapOverride> overrides;
  std::vector<std::string> ignored;
  std::vector<std::vector<std::string>> together;  // each list: modules of one unit
  friend bool operator==(const WrapSpec&, const WrapSpec&) = default;
};

}  // namespace shardlab
