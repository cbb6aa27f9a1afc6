// lambda_auto_wrap_policy, with patterns in place of a function.
#include <algorithm>

#include <fmt/format.h>

#include "engine/model/wrap/module_match.h"
#include "engine/model/wrap/wrap_policy.h"

namespace shardlab {

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

}  // namespace shardlab
