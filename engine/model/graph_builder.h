// Helper with which a family writes its ModelGraph. Not thread-safe; one builder, one graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/choices.h"
#include "engine/model/model_graph.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

// How predictions assume that tokens spread over experts: evenly, all to the same, or as expert_shares say.
enum class ExpertLoad : std::uint8_t { balanced, worst, stated };

// What is fixed when a graph is built besides the model's configuration.
struct GraphOptions {
  std::int64_t micro_batch = 1;
  std::int64_t sequence_length = 1;
  DType stored_dtype = DType::float32;
  DType compute_dtype = DType::float32;
  DType buffer_dtype = DType::float32;  // of buffers of modules: rotary frequencies
  ExpertLoad expert_load = ExpertLoad::balanced;
  Implementation implementation = Implementation::fused;
  AttentionForm attention = AttentionForm::of_modules;
  bool fused_loss = false;  // with eager operators too, where the modules of transformers compute otherwise
  CompileScope compile = CompileScope::none;  // of eager operators
  bool compiled_loss = false;                 // likewise
  EagerLoss eager_loss{};                     // likewise
  // Each expert's share of the tokens, adding up to 1; one list for all layers with experts, or one a layer.
  std::vector<std::vector<double>> expert_shares{};
  std::optional<double> dropout{};      // in place of all shares of dropout of the configuration
  std::optional<double> router_loss{};  // weight of the balancing loss, instead of the configuration's
};

class GraphBuilder {
 public:
  GraphBuilder(std::string family, const GraphOptions& options);

  // Modules in definition order; `name` is the last part of the path.
  ModuleId add_module(std::optional<ModuleId> parent, std::string_view name, std::string_view class_name);
  // Likewise, a table of positions that layers read: rotary_emb.
  ModuleId add_positions(ModuleId parent, std::string_view name, std::string_view class_name);
  ParameterId add_parameter(ModuleId module, std::string_view name, Shape shape, InitialValue initial,
                            double scale = 0);
  // Registers an existing parameter on another module (tied weights).
  void tie_parameter(ModuleId module, ParameterId parameter);

  TensorId add_input(std::string_view label, Shape shape, DType dtype, TensorRole role,
                     Attributes attributes = {});

  // Appends an operator with one output. The output requires a gradient when an input does or the operator
  // has parameters.
  TensorId add_operator(const OperatorType& type, ModuleId module, std::vector<TensorId> inputs,
                        std::vector<ParameterId> parameters, std::string_view label, Shape shape,
                        Attributes attributes = {});

  // The same with several outputs. Those of integers require no gradient.
  struct Output {
    std::string_view label;
    Shape shape;
    DType dtype;
    TensorRole role = TensorRole::activation;
  };
  std::vector<TensorId> add_operator(const OperatorType& type, ModuleId module, std::vector<TensorId> inputs,
                                     std::vector<ParameterId> parameters, const std::vector<Output>& outputs,
                                     Attributes attributes = {});

  const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }
  const Parameter& parameter(ParameterId id) const { return graph_.parameter(id); }
  const GraphOptions& options() const { return options_; }

  // The finished graph; the builder is empty afterwards.
  ModelGraph finish(TensorId loss, std::string block_class, std::int64_t layers, std::int64_t vocabulary);

 private:
  GraphOptions options_;
  ModelGraph graph_;
};

}  // namespace shardlab
