// What is kept in host memory: settings that a framework does not have, or that have no effect.
#include "engine/scenario/complaints.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {

void validate_offload(Complaints& c) {
  const OffloadSpec& offload = *c.scenario.offload;
  const std::string_view why = facts_of(c.scenario).why_no_optimizer_offload;
  if (offload.optimizer == OffloadTarget::cpu && !why.empty())
    c.refuse("offload.optimizer", std::string(why), "remove it, and set offload.parameters: cpu");
  const std::string_view why_not = facts_of(c.scenario).why_no_parameter_offload;
  if (offload.parameters == OffloadTarget::cpu && !why_not.empty())
    c.refuse("offload.parameters", std::string(why_not), "use offload.optimizer: cpu");
  const bool offloads = offload.parameters != OffloadTarget::none || offload.optimizer != OffloadTarget::none;
  if (!offload.pin && !offloads)
    c.refuse("offload.pin", "has no effect: nothing is offloaded",
             "remove it, or set offload.parameters: cpu");
}

}  // namespace shardlab
