// The wrap policies. Sources are with each.
#include "engine/model/wrap/wrap_policy.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/model/wrap/module_match.h"

namespace shardlab {

// transformer_auto_wrap_policy and ModuleWrapPolicy. The first takes the layer class from the model where
// none is named, as accelerate does with `_no_split_modules`; otherwise they select the same modules.
Result<WrapPolicy> class_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key) {
  std::vector<std::string> classes = spec.classes;
  if (classes.empty()) classes.push_back(context.graph.block_class);
  for (const std::string& name : classes)
    SHARDLAB_CHECK_OK(check_unit_class(context.graph, name, key + ".classes"));
  return WrapPolicy{[](const WrapCandidate&) { return true; },
                    [classes = std::move(classes)](const WrapCandidate& candidate) {
                      return std::find(classes.begin(), classes.end(), candidate.module.class_name) !=
                             classes.end();
                    }};
}

// lambda_auto_wrap_policy, with patterns in place of a function.
Result<WrapPolicy> lambda_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key) {
  for (std::size_t i = 0; i < spec.match.size(); ++i) {
    SHARDLAB_CHECK_OK(matching_modules(context.graph, context.elements, spec.match[i],
                                       fmt::format("{}.match[{}]", key, i)));
  }
  return WrapPolicy{[](const WrapCandidate&) { return true; },
                    [patterns = spec.match](const WrapCandidate& candidate) {
                      return std::any_of(patterns.begin(), patterns.end(), [&](const WrapMatch& pattern) {
                        return matches_module(pattern, candidate.module, candidate.elements);
                      });
                    }};
}

// _or_policy: a module is looked into, and wrapped, when any of the policies says so. What one policy wrapped
// below counts as taken for the others, so the units are not the union of what each would select alone.
Result<WrapPolicy> or_policy(const WrapContext& context, const WrapSpec& spec, const std::string& key) {
  std::vector<WrapPolicy> policies;
  for (std::size_t i = 0; i < spec.any.size(); ++i) {
    SHARDLAB_TRY(WrapPolicy policy,
                 make_wrap_policy(context, spec.any[i], fmt::format("{}.any[{}]", key, i)));
    policies.push_back(std::move(policy));
  }
  return WrapPolicy{[policies](const WrapCandidate& candidate) {
                      return std::any_of(policies.begin(), policies.end(), [&](const WrapPolicy& policy) {
                        return policy.descends(candidate);
                      });
                    },
                    [policies](const WrapCandidate& candidate) {
                      return std::any_of(policies.begin(), policies.end(),
                                         [&](const WrapPolicy& policy) { return policy.wraps(candidate); });
                    }};
}

// Sources: size_based_auto_wrap_policy of torch 2.11 (fsdp/wrap.py), fsdp2_prepare_auto_wrap_policy of
// accelerate 1.15 (utils/fsdp_utils.py).

namespace {

// FORCE_LEAF_MODULES: never looked into, and never a unit either, as the procedure stops before it asks for
// that.
bool is_forced_leaf(const Module& module) {
  return module.class_name == "MultiheadAttention";
}

}  // namespace

WrapPolicy size_policy(const WrapSpec& spec) {
  const std::int64_t least = spec.min_params;
  if (spec.rule == SizeRule::plain) {
    return {[](const WrapCandidate&) { return true; },
            [least](const WrapCandidate& candidate) { return candidate.elements > least; }};
  }
  return {[least](const WrapCandidate& candidate) {
            return candidate.left >= least && !is_forced_leaf(candidate.module);
          },
          [least](const WrapCandidate& candidate) { return candidate.left >= least; }};
}

}  // namespace shardlab
