#include "engine/model/segment/module_calls.h"

#include "engine/model/wrap/module_sizes.h"

namespace shardlab {

OperatorId ModuleCalls::end_of(OperatorId maker, OperatorId reader) const {
  if (!eager_) return reader;
  const ModuleId made_in = graph_.op(maker).module;
  std::optional<ModuleId> called;
  for (std::optional<ModuleId> module = graph_.op(reader).module;
       module && !lies_within(graph_, made_in, *module); module = graph_.module(*module).parent)
    called = module;
  if (!called) return reader;
  OperatorId last = reader;
  while (last.value + 1 < stop_.value &&
         lies_within(graph_, graph_.op(OperatorId{last.value + 1}).module, *called))
    ++last.value;
  return last;
}

}  // namespace shardlab
