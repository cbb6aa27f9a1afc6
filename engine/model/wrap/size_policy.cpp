// Sources: size_based_auto_wrap_policy of torch 2.11 (fsdp/wrap.py), fsdp2_prepare_auto_wrap_policy of
// accelerate 1.15 (utils/fsdp_utils.py).
#include "engine/model/wrap/wrap_policy.h"

namespace shardlab {
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
