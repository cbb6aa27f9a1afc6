#include "engine/report/explain_memory/tensor_words.h"

#include <algorithm>

#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

TensorWords::TensorWords(const ModelGraph& graph)
    : graph_(graph), dimensions_(model_dimensions(graph)), makers_(graph.tensors.size()) {
  for (std::size_t i = 0; i < graph.operators.size(); ++i)
    for (const auto* list : {&graph.operators[i].outputs, &graph.operators[i].extra_tensors})
      for (const TensorId id : *list) makers_[id.index()] = make_id<OperatorId>(i);
}

std::string TensorWords::maker_name(TensorId id) const {
  const std::optional<OperatorId> made_by = maker(id);
  return made_by ? std::string(graph_.op(*made_by).type->name) : "";
}

std::string TensorWords::label(TensorId id) const {
  return with_spaces(graph_.tensor(id).label);
}

// An extra is known by the output of its operator; which it is of the operator's, by its shape.
std::string TensorWords::label(const ProgramValue& value) const {
  const std::optional<OperatorId> made_by = maker(value.tensor);
  if (value.extra && made_by) {
    for (const ExtraTensor& each : describe_operator(graph_, graph_.op(*made_by)).extras)
      if (each.shape == value.extra_shape && each.dtype == value.dtype) return with_spaces(each.label);
  }
  return (value.gradient ? "gradient of " : "") + label(value.tensor);
}

const Shape& TensorWords::shape_of(const ProgramValue& value) const {
  return value.extra ? value.extra_shape : graph_.tensor(value.tensor).shape;
}

std::string TensorWords::name_of_extent(std::int64_t extent) const {
  if (extent <= 1) return "";
  if (extent == dimensions_.hidden) return "hidden";
  if (extent == dimensions_.vocabulary) return "vocabulary";
  if (extent == dimensions_.feed_forward) return "feed-forward";
  if (extent == dimensions_.heads) return "heads";
  return extent == dimensions_.kv_heads ? "key-value heads" : "";
}

// Sequences come first, then tokens, or both as one extent; what is equal to a width of the model behind
// them is called by it.
ByteProduct TensorWords::product(DType dtype, const Shape& shape) const {
  ByteProduct product{{{element_size(dtype), "bytes"}}};
  bool tokens = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t extent = shape[i];
    if (extent == 1) continue;
    const bool of_batch = i == 0 && extent == graph_.micro_batch * graph_.sequence_length;
    const bool of_sequence = i > 0 && !tokens && extent == graph_.sequence_length;
    if (of_batch || of_sequence) {
      tokens = true;
      product.factors.push_back({extent, "tokens"});
    } else if (i == 0 && shape.size() > 1 && extent == graph_.micro_batch) {
      product.factors.push_back({extent, "sequences"});
    } else {
      product.factors.push_back({extent, name_of_extent(extent)});
    }
  }
  if (product.factors.size() == 1) product.factors.push_back({1, "numbers"});
  return product;
}

// A constant has no sequences.
ByteProduct TensorWords::product(DType dtype, TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  if (tensor.role != TensorRole::constant) return product(dtype, tensor.shape);
  ByteProduct product{{{element_size(dtype), "bytes"}}};
  for (const std::int64_t extent : tensor.shape) product.factors.push_back({extent, ""});
  return product;
}

ByteProduct TensorWords::product(const ProgramValue& value) const {
  ByteProduct product = this->product(value.dtype, shape_of(value));
  if (product.bytes() == value.bytes) return product;
  return {{{value.bytes.value, "bytes"}}};
}

ByteProduct TensorWords::product_of_block(const Operator& op, Bytes bytes) const {
  for (const auto* list : {&op.outputs, &op.inputs}) {
    for (const TensorId id : *list) {
      const Shape& shape = graph_.tensor(id).shape;
      for (const DType dtype : {DType::float32, graph_.compute_dtype, DType::int64, DType::uint8})
        if (bytes == bytes_of(element_count(shape), dtype)) return product(dtype, shape);
    }
  }
  for (const ParameterId id : op.parameters) {
    const Parameter& parameter = graph_.parameter(id);
    for (const DType dtype : {DType::float32, graph_.compute_dtype})
      if (bytes == bytes_of(parameter.model_elements(), dtype))
        return {{{element_size(dtype), "bytes"}, {parameter.model_elements(), "parameters"}}};
  }
  return {{{bytes.value, "bytes"}}};
}

}  // namespace shardlab
