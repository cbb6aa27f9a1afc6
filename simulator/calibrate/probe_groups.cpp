#include "simulator/calibrate/probe_groups.h"

#include "engine/model/operators/operator_list.h"
#include "simulator/cost/probe_names.h"

namespace shardlab {

CheckedGroup group_of_probe(std::string_view probe) {
  if (is_matmul_probe(probe)) return CheckedGroup::products;
  return collective_of_probe(probe) ? CheckedGroup::collectives : CheckedGroup::operators;
}

CheckedGroup group_of_case(const ProbeCase& probe) {
  const OperatorType* const type = find_operator_type(probe.probe.substr(0, probe.probe.find('.')));
  if (type != nullptr && type->probe != nullptr && type->probe->group == ProbeGroup::product)
    return CheckedGroup::products;
  return group_of_probe(probe.probe);
}

}  // namespace shardlab
