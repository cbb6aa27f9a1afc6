// Which modules of a model become units.
#pragma once

#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/joined_modules.h"
#include "engine/model/wrap/wrap_spec.h"

namespace shardlab {

struct WrappedModules {
  std::vector<ModuleId>
      units;  // in definition order, hence the root first; of joined modules the first alone
  std::vector<ModuleId>
      ignored;  // outermost, in definition order: neither they nor what is below them is in a unit
  std::vector<JoinedModules> joined{};  // each one unit, whatever the policy says of them
};

// Runs the policy of `spec`. The root is a unit in any case. Never selected: containers without a
// forward, modules without parameters. Errors: a class or pattern that selects nothing; tied parameters whose
// modules would fall into different units; ignored parameters that are trained (nobody would reduce their
// gradients, and ranks would drift apart) or tied to ones that are not ignored; joined modules as
// joined_modules.h says. Sources: torch 2.11,
// fsdp/wrap.py (_recursive_wrap), fsdp/_init_utils.py
// (_get_ignored_params); fully_shard's ignored_params.
Result<WrappedModules> wrap_modules(const ModelGraph& graph, const WrapSpec& spec);

// The root and every module that reads parameters itself, tied ones of other modules included, each a unit:
// for strategies that gather for a module whatever it reads, whoever owns it. `leaves` (leaf_modules.h) are
// units with all that is below them.
WrappedModules modules_that_read(const ModelGraph& graph, std::span<const ModuleId> leaves);

}  // namespace shardlab
