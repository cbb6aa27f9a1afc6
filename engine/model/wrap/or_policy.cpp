// _or_policy: a module is looked into, and wrapped, when any of the policies says so. What one policy wrapped
// below counts as taken for the others, so the units are not the union of what each would select alone.
#include <algorithm>

#include <fmt/format.h>

#include "engine/model/wrap/wrap_policy.h"

namespace shardlab {

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

}  // namespace shardlab
