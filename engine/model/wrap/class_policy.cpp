// transformer_auto_wrap_policy and ModuleWrapPolicy. The first takes the layer class from the model where
// none is named, as accelerate does with `_no_split_modules`; otherwise they select the same modules.
#include <algorithm>

#include "engine/model/wrap/module_match.h"
#include "engine/model/wrap/wrap_policy.h"

namespace shardlab {

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

}  // namespace shardlab
