// Tensors of a model in words and numbers: who makes them, what they are called, how many elements of what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/model/segment/program.h"
#include "engine/report/explain_memory/byte_formula.h"
#include "engine/report/model_dimensions.h"

namespace shardlab {

class TensorWords {
 public:
  explicit TensorWords(const ModelGraph& graph);  // which must outlive it

  // The operator whose output it is; none for what the batch and the configuration give.
  std::optional<OperatorId> maker(TensorId id) const { return makers_[id.index()]; }
  std::string maker_name(TensorId id) const;
  std::string label(TensorId id) const;
  // "log probabilities", "gradient of hidden".
  std::string label(const ProgramValue& value) const;

  // dtype and shape as factors: "2 bytes x 8 sequences x 4,096 tokens x 4,096 hidden".
  ByteProduct product(DType dtype, const Shape& shape) const;
  ByteProduct product(const ProgramValue& value) const;
  ByteProduct product(DType dtype, TensorId id) const;
  // The same of a block of which only the bytes are known: those of one of the operator's tensors in some
  // dtype, or so many bytes.
  ByteProduct product_of_block(const Operator& op, Bytes bytes) const;

  const ModelGraph& graph() const { return graph_; }

 private:
  const Shape& shape_of(const ProgramValue& value) const;
  std::string name_of_extent(std::int64_t extent) const;

  const ModelGraph& graph_;
  ModelDimensions dimensions_;
  std::vector<std::optional<OperatorId>> makers_;  // by TensorId
};

}  // namespace shardlab
