// What buffers of a plan are made of: parameters and their states by count, tensors by shape, what segments
// keep by the operators that made it.
#pragma once

#include <string>
#include <vector>

#include "engine/report/explain_memory/memory_part.h"
#include "engine/report/explain_memory/peak_context.h"

namespace shardlab {

// Adds up alike things: the same words and the same product are one part with their number as a factor.
class PartCollector {
 public:
  explicit PartCollector(const PeakContext& context) : context_(context) {}

  // Adds a whole buffer of the plan.
  void add(BufferId id);
  // Adds one parameter's storage in a buffer of separate parameters.
  void add_parameter(const Buffer& buffer, ParameterId parameter);
  // `layer`: of which it is, -1 for none.
  void add(const ProgramValue& value, std::string made_by, int layer);
  void add(std::string what, std::string made_by, ByteProduct product, int layer = -1);

  // The largest first.
  std::vector<MemoryPart> parts() const;

 private:
  struct Alike {
    std::string what, made_by;
    ByteProduct product;
    std::vector<int> layers;  // of each of them, -1 for none
  };
  void add_parameters(const Buffer& buffer, int layer);
  void add_kept(const Buffer& buffer, int layer);

  const PeakContext& context_;
  std::vector<Alike> alike_;
};

}  // namespace shardlab
