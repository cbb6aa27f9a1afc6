// ModelGraph: a model as a value. The module tree with the checkpoint's names, and the operators in execution
// order.
//
// Built by a family (model/families) for one micro-batch of fixed shape. Everything refers to everything else
// by id, that is by position in the vectors below. Tensors are storages: no operator of a graph makes a view
// of another tensor, so the bytes of a TensorId count once however many operators keep it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/ids.h"
#include "engine/model/attributes.h"
#include "engine/model/choices.h"
#include "engine/model/shape.h"

namespace shardlab {

struct OperatorType;  // model/operators/operator_type.h

struct Module {
  std::string path;        // "model.layers.0.self_attn"; empty for the model itself
  std::string class_name;  // "LlamaAttention"
  std::optional<ModuleId> parent;
  std::vector<ModuleId> children;       // in definition order
  std::vector<ParameterId> parameters;  // registered on this module itself, tied ones included
  // Parameters of modules below that its own forward reads beside them.
  std::vector<ParameterId> looks_at{};
  bool of_positions = false;  // a table of positions: no input of it has a gradient
};

enum class InitialValue : std::uint8_t {
  uniform,  // uniform in +-scale
  ones,
  zeros,
};

struct Parameter {
  std::string name;  // as named_parameters() of the checkpoint gives it; a tied parameter has the name of its
                     // first owner
  Shape shape;
  DType dtype = DType::float32;  // stored
  ModuleId module;               // first owner
  InitialValue initial = InitialValue::uniform;
  double scale = 0;
  bool trainable = true;  // the optimizer updates it; else it is frozen
  bool requires_grad =
      true;  // backward computes its gradient: if trainable, or where a strategy cannot leave it out
  std::string base_name{};           // what the model without adapters calls it, where that is another name
  bool adapter = false;              // no part of the model without adapters
  std::int64_t packed_elements = 0;  // of the weight that it holds, where several share an element; else 0

  // As it is stored, cut, gathered and reduced.
  std::int64_t elements() const { return element_count(shape); }
  // As the model counts its parameters.
  std::int64_t model_elements() const { return packed_elements > 0 ? packed_elements : elements(); }
};

enum class TensorRole : std::uint8_t {
  activation,
  tokens,     // int64 token ids of the batch
  targets,    // int64 target ids of the batch
  constant,   // computed once from the model's configuration; lives across steps
  statistic,  // made by operators, float32 whatever units compute in: sums of routers, parts of the loss
};

struct Tensor {
  std::string_view label;  // a literal: "hidden", "query", "logits" ...
  Shape shape;
  DType dtype = DType::float32;
  TensorRole role = TensorRole::activation;
  bool requires_grad = false;
  Attributes attributes;  // a constant's say what it holds (model/constants.h)

  Bytes bytes() const { return bytes_of(element_count(shape), dtype); }
};

struct Operator {
  const OperatorType* type = nullptr;  // static storage
  ModuleId module;                     // the module whose forward runs it
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<ParameterId> parameters;
  Attributes attributes;
  // By the description's extras, where they are tensors of the graph: those of an operator that activation
  // checkpointing does not run again. Else empty: extras live within programs.
  std::vector<TensorId> extra_tensors{};
};

// The frozen model beside the one that is trained, in one graph with it (model/join_teacher.h): its modules
// and parameters come after the student's, its operators before them.
struct TeacherTower {
  ModuleId root;
  ParameterId first_parameter;
  TensorId first_tensor, last_tensor;  // the first and last of its own; the tokens are the student's
  OperatorId end;                      // its operators are [0, end)
  TensorId logits;
  std::string family;
};

struct ModelGraph {
  std::string family;       // "llama"
  std::string block_class;  // class of the repeated layer, what a transformer wrap policy wraps by default
  std::int64_t layers = 0;
  std::int64_t vocabulary = 0;
  std::int64_t micro_batch = 0;
  std::int64_t sequence_length = 0;
  DType compute_dtype = DType::float32;
  Implementation implementation = Implementation::fused;  // whose operators; of a distillation the student's
  std::vector<Module> modules;                            // definition order, the model itself first
  std::vector<Parameter> parameters;                      // definition order
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;  // execution order
  TensorId loss;                    // scalar float32, mean over the tokens of the micro-batch
  // How predictions assume that assignments spread over experts: the share of each, by layer with experts;
  // one list for all layers, or none: as the operators' attributes say.
  std::vector<std::vector<double>> expert_shares;
  std::optional<TeacherTower> teacher;
  // Fields of the published configuration, as JSON, whose dropout this one leaves out; empty: none.
  std::string published_dropout;

  // Out of line: many hand it on, and few look into all of it.
  ModelGraph();
  ModelGraph(const ModelGraph&);
  ModelGraph(ModelGraph&&) noexcept;
  ModelGraph& operator=(const ModelGraph&);
  ModelGraph& operator=(ModelGraph&&) noexcept;
  ~ModelGraph();

  bool is_teachers(ModuleId id) const { return teacher && id >= teacher->root; }
  bool is_teachers(ParameterId id) const { return teacher && id >= teacher->first_parameter; }
  bool is_teachers(TensorId id) const {
    return teacher && id >= teacher->first_tensor && id <= teacher->last_tensor;
  }
  bool is_teachers(OperatorId id) const { return teacher && id < teacher->end; }

  const Module& module(ModuleId id) const { return modules[id.index()]; }
  const Parameter& parameter(ParameterId id) const { return parameters[id.index()]; }
  const Tensor& tensor(TensorId id) const { return tensors[id.index()]; }
  const Operator& op(OperatorId id) const { return operators[id.index()]; }
};

std::int64_t total_parameters(const ModelGraph& graph);
// Elements as they are stored: several parameters may share one.
std::int64_t stored_elements(const ModelGraph& graph);
// Those that one token uses: of experts only as many as a token is sent to.
std::int64_t active_parameters(const ModelGraph& graph);
std::int64_t trainable_parameters(const ModelGraph& graph);

// Elements of the parameters of one repeated layer; 0 when the model has none.
std::int64_t parameters_per_layer(const ModelGraph& graph);
std::int64_t stored_elements_per_layer(const ModelGraph& graph);

// Hash over the structure of the graph: operators, shapes, dtypes, attributes. Names are not part of it.
std::string structure_hash(const ModelGraph& graph);

}  // namespace shardlab
