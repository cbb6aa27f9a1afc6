#include "engine/model/wrap/wrap_modules.h"

#include <algorithm>

#include "engine/model/wrap/ignored_modules.h"
#include "engine/model/wrap/module_match.h"
#include "engine/model/wrap/module_sizes.h"
#include "engine/model/wrap/tied_units.h"
#include "engine/model/wrap/wrap_policy.h"

namespace shardlab {
namespace {

class RecursiveWrap {
 public:
  RecursiveWrap(const WrapContext& context, const WrapPolicy& policy, const std::vector<ModuleId>& ignored)
      : context_(context), policy_(policy), ignored_(ignored) {
    is_unit_.resize(context.graph.modules.size());
  }

  std::vector<ModuleId> choose() {
    visit(ModuleId{0});
    std::vector<ModuleId> units{ModuleId{0}};
    for (std::size_t i = 1; i < is_unit_.size(); ++i) {
      if (is_unit_[i]) units.push_back(make_id<ModuleId>(i));
    }
    return units;
  }

 private:
  // Elements of the module that are in units afterwards: its own or those below it. A tied parameter may
  // count twice in the sum over the children, as in PyTorch.
  std::int64_t visit(ModuleId id) {
    if (std::find(ignored_.begin(), ignored_.end(), id) != ignored_.end()) return 0;
    const Module& module = context_.graph.module(id);
    WrapCandidate candidate{module, context_.elements[id.index()], context_.elements[id.index()]};
    if (!policy_.descends(candidate)) return 0;
    std::int64_t taken = 0;
    for (const ModuleId child : module.children) taken += visit(child);
    candidate.left -= taken;
    const bool may_be_unit = module.parent && candidate.elements > 0 && !is_container(module);
    if (!may_be_unit || !policy_.wraps(candidate)) return taken;
    is_unit_[id.index()] = true;
    return candidate.elements;
  }

  const WrapContext& context_;
  const WrapPolicy& policy_;
  const std::vector<ModuleId>& ignored_;
  std::vector<bool> is_unit_;  // by ModuleId
};

// What the modules below have not taken is the module's own.
WrapPolicy owners_policy() {
  return {[](const WrapCandidate&) { return true; },
          [](const WrapCandidate& candidate) { return candidate.left > 0; }};
}

}  // namespace

Result<WrapPolicy> make_wrap_policy(const WrapContext& context, const WrapSpec& spec,
                                    const std::string& key) {
  switch (spec.policy) {
    case WrapPolicyKind::size: return size_policy(spec);
    case WrapPolicyKind::lambda: return lambda_policy(context, spec, key);
    case WrapPolicyKind::any_of: return or_policy(context, spec, key);
    case WrapPolicyKind::transformer:
    case WrapPolicyKind::module: return class_policy(context, spec, key);
    case WrapPolicyKind::owners: return owners_policy();
    case WrapPolicyKind::none: break;
  }
  const auto no = [](const WrapCandidate&) { return false; };
  return WrapPolicy{no, no};
}

Result<WrappedModules> wrap_modules(const ModelGraph& graph, const WrapSpec& spec) {
  SHARDLAB_TRY(const std::vector<ModuleId> ignored, ignored_modules(graph, spec.ignored));
  const std::vector<std::int64_t> elements = module_elements(graph, parameters_within(graph, ignored));
  const WrapContext context{graph, elements};
  SHARDLAB_TRY(const WrapPolicy policy, make_wrap_policy(context, spec, "parallel.wrap"));
  WrappedModules wrapped{RecursiveWrap(context, policy, ignored).choose(), ignored};
  SHARDLAB_TRY(wrapped.joined, joined_modules(graph, spec.together, ignored));
  SHARDLAB_TRY(wrapped.units, with_joined_units(graph, std::move(wrapped.units), wrapped.joined));
  SHARDLAB_CHECK_OK(check_tied_parameters(graph, wrapped.units, wrapped.joined));
  return wrapped;
}

WrappedModules modules_that_read(const ModelGraph& graph, std::span<const ModuleId> leaves) {
  WrappedModules wrapped{{ModuleId{0}}, {}};
  for (std::size_t i = 1; i < graph.modules.size(); ++i) {
    const auto id = make_id<ModuleId>(i);
    const Module& module = graph.modules[i];
    const bool is_leaf = std::find(leaves.begin(), leaves.end(), id) != leaves.end();
    const bool reads = !module.parameters.empty() || !module.looks_at.empty();
    if (is_leaf || (reads && !lies_within_any(graph, id, leaves))) wrapped.units.push_back(id);
  }
  return wrapped;
}

}  // namespace shardlab
