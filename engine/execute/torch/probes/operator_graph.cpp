#include <utility>

#include "engine/execute/torch/probes/operator_bench.h"
#include "engine/model/constants.h"
#include "engine/model/graph_builder.h"

namespace shardlab {
namespace {

class Builder {
 public:
  Builder(const OperatorProbe& parsed, const ProbeCase& probe)
      : parsed_(parsed), probe_(probe), builder_("probe", {1, 1, parsed.dtype, parsed.dtype}) {
    module_ = builder_.add_module(std::nullopt, "", "Probe");
  }

  ModelGraph build() {
    const OperatorType& type = *find_operator_type(parsed_.operation);
    const std::string_view name = parsed_.operation;
    if (name == "linear") return linear(type);
    if (name == "attention") return attention(type);
    if (name == "rope" || name == "eager_rope") return rope(type, name == "eager_rope");
    if (name == "eager_packed_rope") return packed_rope(type);
    if (name == "embedding") return embedding(type);
    if (name == "cross_entropy" || name == "eager_cross_entropy") return cross_entropy(type);
    if (name == "cast") return cast(type);
    if (name == "rms_norm" || name == "eager_rms_norm" || name == "layer_norm")
      return row_operator(type, 1, {number("width")});
    for (const char* of_one : {"gelu", "eager_gelu_new", "soft_cap", "eager_soft_cap"}) {
      if (name == of_one) return row_operator(type, 1, {});
    }
    return row_operator(type, 2, {});  // add, geglu, swiglu and their eager forms
  }

 private:
  std::int64_t number(const char* name) const { return shape_number(probe_, name); }

  // Made by nobody here, but wants a gradient, as an activation does.
  TensorId activation(Shape shape) {
    const TensorId id = builder_.add_input("x", std::move(shape), parsed_.dtype, TensorRole::activation);
    wanted_.push_back(id);
    return id;
  }

  ModelGraph finish(const OperatorType& type, std::vector<TensorId> inputs,
                    std::vector<ParameterId> parameters, Shape output, Attributes attributes = {},
                    std::int64_t vocabulary = 1) {
    const bool is_loss = output.empty();
    const TensorId result = builder_.add_operator(type, module_, std::move(inputs), std::move(parameters),
                                                  "y", std::move(output), std::move(attributes));
    ModelGraph graph = builder_.finish(result, "Probe", 1, vocabulary);
    if (!is_loss) {
      graph.tensors[result.index()].dtype = parsed_.dtype;
      graph.loss = TensorId{0};  // an input: nothing here is the loss
    }
    for (const TensorId id : wanted_) graph.tensors[id.index()].requires_grad = true;
    return graph;
  }

  ModelGraph linear(const OperatorType& type) {
    const std::int64_t rows = number("rows"), inputs = number("inputs"), outputs = number("outputs");
    const ParameterId weight =
        builder_.add_parameter(module_, "weight", {outputs, inputs}, InitialValue::uniform, 1);
    return finish(type, {activation({1, rows, inputs})}, {weight}, {1, rows, outputs});
  }

  ModelGraph attention(const OperatorType& type) {
    const std::int64_t batch = number("batch"), sequence = number("sequence"), head_dim = number("head_dim");
    const std::int64_t heads = number("heads"), kv_heads = number("kv_heads");
    const Shape q{batch, sequence, heads * head_dim};
    const Shape kv{batch, sequence, kv_heads * head_dim};
    const std::vector<TensorId> inputs{activation(q), activation(kv), activation(kv)};
    return finish(type, inputs, {}, q,
                  {{"heads", static_cast<double>(heads)},
                   {"kv_heads", static_cast<double>(kv_heads)},
                   {"head_dim", static_cast<double>(head_dim)}});
  }

  ModelGraph rope(const OperatorType& type, bool eager) {
    const std::int64_t head_dim = number("head_dim");
    const Shape shape{number("batch"), number("sequence"), number("heads") * head_dim};
    return finish(type, {activation(shape), rope_table(eager)}, {}, shape,
                  {{"head_dim", static_cast<double>(head_dim)}});
  }

  TensorId rope_table(bool eager) {
    const std::int64_t sequence = number("sequence"), head_dim = number("head_dim");
    const Attributes attributes = rope_table_attributes(10000, 0, 1, 1, 4, 1);
    return builder_.add_input("table", {2, sequence, eager ? head_dim : head_dim / 2},
                              eager ? parsed_.dtype : DType::float32, TensorRole::constant,
                              eager ? with_both_halves(attributes) : attributes);
  }

  // One key head stays one; several are repeated for each query head.
  ModelGraph packed_rope(const OperatorType& type) {
    const std::int64_t head_dim = number("head_dim"), heads = number("heads"), kv_heads = number("kv_heads");
    const auto rows = [&](std::int64_t keys) {
      return Shape{number("batch"), number("sequence"), (heads + 2 * keys) * head_dim};
    };
    return finish(type, {activation(rows(kv_heads)), rope_table(true)}, {}, rows(kv_heads == 1 ? 1 : heads),
                  {{"head_dim", static_cast<double>(head_dim)},
                   {"turned", static_cast<double>(heads / kv_heads + 1)},
                   {"passed", 1}});
  }

  ModelGraph embedding(const OperatorType& type) {
    const std::int64_t rows = number("rows"), width = number("width"), vocabulary = number("vocabulary");
    const TensorId tokens = builder_.add_input("tokens", {1, rows}, DType::int64, TensorRole::tokens);
    const ParameterId table =
        builder_.add_parameter(module_, "weight", {vocabulary, width}, InitialValue::uniform, 1);
    return finish(type, {tokens}, {table}, {1, rows, width}, {}, vocabulary);
  }

  ModelGraph cross_entropy(const OperatorType& type) {
    const std::int64_t rows = number("rows"), vocabulary = number("vocabulary");
    const TensorId logits = activation({1, rows, vocabulary});
    const TensorId targets = builder_.add_input("targets", {1, rows}, DType::int64, TensorRole::targets);
    return finish(type, {logits, targets}, {}, {}, {}, vocabulary);
  }

  ModelGraph cast(const OperatorType& type) {
    ModelGraph graph = row_operator(type, 1, {});
    const TensorId output = graph.operators.front().outputs.front();
    graph.tensors[output.index()].dtype = parsed_.dtype == DType::float32 ? DType::bfloat16 : DType::float32;
    return graph;
  }

  ModelGraph row_operator(const OperatorType& type, int inputs, const Shape& weight) {
    const Shape shape{1, number("rows"), number("width")};
    std::vector<TensorId> tensors;
    for (int i = 0; i < inputs; ++i) tensors.push_back(activation(shape));
    std::vector<ParameterId> parameters;
    if (!weight.empty())
      parameters.push_back(builder_.add_parameter(module_, "weight", weight, InitialValue::ones));
    return finish(type, std::move(tensors), std::move(parameters), shape, {{"epsilon", 1e-5}, {"cap", 30}});
  }

  const OperatorProbe& parsed_;
  const ProbeCase& probe_;
  GraphBuilder builder_;
  ModuleId module_;
  std::vector<TensorId> wanted_;
};

}  // namespace

ModelGraph operator_graph(const OperatorProbe& parsed, const ProbeCase& probe) {
  return Builder(parsed, probe).build();
}

}  // namespace shardlab
