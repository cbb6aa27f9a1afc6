// A wrap policy: two questions that the recursive procedure asks about each module. Private to this folder.
//
// Source: torch 2.11, torch/distributed/fsdp/wrap.py. PyTorch asks one function with `recurse` true, then
// false; policy objects (ModuleWrapPolicy) visit all modules instead, which selects the same ones as a policy
// that always descends.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/wrap_spec.h"

namespace shardlab {

struct WrapCandidate {
  const Module& module;
  std::int64_t elements =
      0;  // of the module's parameters and all below it, ignored ones left out, tied ones once
  std::int64_t left = 0;  // of these, the ones that no unit below has taken
};

struct WrapPolicy {
  std::function<bool(const WrapCandidate&)> descends;  // look at the children? Here `left` is `elements`
  std::function<bool(const WrapCandidate&)> wraps;     // make it a unit?
};

struct WrapContext {
  const ModelGraph& graph;
  std::span<const std::int64_t> elements;  // by ModuleId, as in WrapCandidate
};

// `key` is the dotted key of the specification, for errors: "parallel.wrap", "parallel.wrap.any[1]".
Result<WrapPolicy> make_wrap_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key);

// `transformer` and `module`: exact classes; without any, the repeated layer of the family.
Result<WrapPolicy> class_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key);
// `size`: with rule remainder FSDP1's size_based_auto_wrap_policy, with rule plain what accelerate does for
// FSDP2.
WrapPolicy size_policy(const WrapSpec& spec);
// `lambda`: modules that match any of the patterns.
Result<WrapPolicy> lambda_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key);
// `or`: any of several policies, asked module by module.
Result<WrapPolicy> or_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key);

}  // namespace shardlab
