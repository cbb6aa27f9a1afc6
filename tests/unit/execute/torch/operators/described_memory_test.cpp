// Described equals measured: the program of a whole small model is run step by step under a ledger. After
// every step exactly the storages that the program says are live, and during it nothing but the workspace the
// descriptions state.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <iostream>
#include <map>
#include <optional>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/constants.h"
#include "engine/model/families/family.h"
#include "engine/model/freeze.h"
#include "engine/model/operators/operator_type.h"
#include "engine/model/partition.h"
#include "engine/model/precision/assign_precision.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

at::ScalarType scalar_type(DType dtype) {
  if (dtype == DType::int64) return at::kLong;
  if (dtype == DType::float16) return at::kHalf;
  return dtype == DType::bfloat16 ? at::kBFloat16 : at::kFloat;
}

ModelGraph small_llama(DType dtype, bool bias) {
  const std::string text =
      std::string(
          R"({"model_type": "llama", "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 2,
    "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 130, "max_position_embeddings": 300)") +
      (bias ? R"(, "attention_bias": true, "mlp_bias": true})" : "}");
  const auto config = ModelConfig::parse(text, "small.json", {});
  REQUIRE_OK(config);
  const auto graph = build_llama(*config, GraphOptions{2, 150, dtype, dtype});
  REQUIRE_OK(graph);
  return *graph;
}

// Norms in float32 between layers in bfloat16, with the casts that this takes.
ModelGraph llama_with_wide_norms() {
  ModelGraph graph = small_llama(DType::bfloat16, false);
  std::map<ModuleId, UnitPrecision> units{{ModuleId{0}, {DType::bfloat16, DType::bfloat16, std::nullopt, true}}};
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].class_name != "LlamaRMSNorm") continue;
    units[make_id<ModuleId>(i)] = {DType::float32, DType::float32, DType::bfloat16, true};
    for (const ParameterId id : graph.modules[i].parameters) graph.parameters[id.index()].dtype = DType::float32;
  }
  auto mixed = assign_precision(std::move(graph), units);
  REQUIRE_OK(mixed);
  return *std::move(mixed);
}

// Runs the programs of a model that is one segment.
class Run {
 public:
  Run(const ModelGraph& graph, const Segment& segment, const MemoryLedger& ledger)
      : graph_(graph), segment_(segment), ledger_(ledger) {
    for (const Parameter& parameter : graph.parameters) {
      parameters_.push_back(at::randn(parameter.shape).mul_(0.05).to(scalar_type(parameter.dtype)));
      gradients_.push_back({parameter.requires_grad ? at::empty_like(parameters_.back()) : at::Tensor(), false});
    }
    for (const TensorId input : segment.inputs) tensors_[input.value] = input_value(graph.tensor(input));
  }

  void forward() { run(segment_.programs.forward, true); }
  void backward() { run(segment_.programs.backward, false); }
  const std::map<std::string, Bytes>& workspace() const { return workspace_; }
  const std::vector<ParameterGradient>& gradients() const { return gradients_; }
  const at::Tensor& loss() const { return tensors_.at(graph_.loss.value); }

 private:
  at::Tensor input_value(const Tensor& tensor) const {
    if (tensor.role != TensorRole::constant) return at::randint(graph_.vocabulary, tensor.shape, at::kLong);
    at::Tensor table = at::empty(tensor.shape, at::kFloat);
    fill_constant(tensor, {table.mutable_data_ptr<float>(), static_cast<std::size_t>(table.numel())});
    return table;
  }

  void run(const Program& program, bool forward) {
    std::vector<at::Tensor> values(program.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = existing(program.values[i]);
    Bytes expected = ledger_.live().total;
    for (const ProgramStep& step : program.steps) {
      for (const ValueIndex value : step.allocates) {
        const ProgramValue& v = program.values[value];
        values[value] =
            at::empty(v.extra ? v.extra_shape : graph_.tensor(v.tensor).shape, scalar_type(v.dtype));
        expected += v.bytes;
      }
      REQUIRE(ledger_.live().total == expected);
      run_step(step, values);
      keep(program, step, values, forward);
      for (const ValueIndex value : step.frees) release(program.values[value], values[value], expected);
      INFO("step " << (&step - program.steps.data()));
      REQUIRE(ledger_.live().total == expected);
    }
  }

  at::Tensor existing(const ProgramValue& value) const {
    if (value.origin == ValueOrigin::saved) return saved_[value.saved];
    const auto found = tensors_.find(value.tensor.value);
    return value.origin == ValueOrigin::tensor_buffer && !value.gradient && found != tensors_.end()
               ? found->second
               : at::Tensor();
  }

  void release(const ProgramValue& value, at::Tensor& tensor, Bytes& expected) {
    if (value.origin == ValueOrigin::saved) saved_[value.saved].reset();
    expected -= value.bytes;
    tensor.reset();
  }

  // Forward hands over what backward reads.
  void keep(const Program& program, const ProgramStep& step, const std::vector<at::Tensor>& values,
            bool forward) {
    if (!forward) return;
    saved_.resize(segment_.programs.keeps.size());
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      const at::Tensor& kept = values[segment_.programs.keeps[i]];
      if (kept.defined()) saved_[i] = kept;
    }
    for (const ValueIndex result : step.results) {
      if (program.values[result].origin == ValueOrigin::tensor_buffer)
        tensors_[program.values[result].tensor.value] = values[result];
    }
  }

  void run_step(const ProgramStep& step, const std::vector<at::Tensor>& values) {
    const auto pick = [&](const auto& indices) {
      std::vector<at::Tensor> picked;
      for (const ValueIndex index : indices)
        picked.push_back(index == k_no_value ? at::Tensor() : values[index]);
      return picked;
    };
    const auto operands = pick(step.operands), results = pick(step.results);
    if (step.kind == StepKind::accumulate) {
      at::Tensor sum = results[0];
      at::add_out(sum, operands[0], operands.size() > 1 ? operands[1] : sum);
      return;
    }
    REQUIRE(step.kind != StepKind::copy);
    const Operator& op = graph_.op(step.op);
    std::vector<at::Tensor> parameters;
    std::vector<ParameterGradient> gradients;
    for (const ParameterId id : op.parameters) {
      parameters.push_back(parameters_[id.index()]);
      gradients.push_back(gradients_[id.index()]);
    }
    const auto extras = pick(step.extras);
    const OperatorImplementation* implementation = find_implementation(op.type->name);
    const OperatorDescription description = describe_operator(graph_, op);
    const bool forward = step.kind == StepKind::forward;
    const Bytes before = ledger_.live().total;
    ledger_.reset_peak();
    if (forward) {
      implementation->forward({op, graph_, operands, parameters, results, extras});
    } else {
      const auto saved_inputs = pick(step.saved_inputs), saved_outputs = pick(step.saved_outputs);
      implementation->backward(
          {op, graph_, operands, 1, saved_inputs, saved_outputs, parameters, extras, results, gradients});
    }
    const Bytes used = ledger_.peak().total - before;
    INFO(op.type->name << (forward ? " forward" : " backward"));
    CHECK(ledger_.live().total == before);
    const Bytes stated = forward ? description.forward_workspace : description.backward_workspace;
    // oneDNN's products of 16-bit numbers bring scratch memory of their own: below a megabyte.
    const bool library = op.type == &k_linear && graph_.tensor(op.outputs[0]).dtype != DType::float32;
    CHECK(used.value >= stated.value);
    CHECK(used.value <= stated.value + (library ? 1 << 20 : 0));
    Bytes& largest = workspace_[std::string(op.type->name) + (forward ? " forward" : " backward")];
    largest = std::max(largest, used);
  }

  const ModelGraph& graph_;
  const Segment& segment_;
  MemoryLedger ledger_;
  std::vector<at::Tensor> parameters_, saved_;
  std::vector<ParameterGradient> gradients_;
  std::map<std::uint32_t, at::Tensor> tensors_;
  std::map<std::string, Bytes> workspace_;
};

void check_described(const ModelGraph& graph) {
  const c10::InferenceMode inference;
  const Partition partition = make_partition(graph, {}, {});
  REQUIRE(partition.segments.size() == 1);
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  Run run(graph, partition.segments[0], ledger);
  run.forward();
  run.backward();
  CHECK(run.loss().item<float>() == Approx(std::log(130)).epsilon(0.1));
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const at::Tensor& gradient = run.gradients()[i].gradient;
    REQUIRE(gradient.defined() == graph.parameters[i].requires_grad);
    if (gradient.defined()) CHECK(at::isfinite(gradient).all().item<bool>());
  }
  for (const auto& [name, bytes] : run.workspace()) {
    if (bytes.value > 0) {
      std::cout << "workspace " << to_string(graph.compute_dtype) << " " << name << ": " << to_string(bytes) << "\n";
    }
  }
}

}  // namespace

TEST_CASE("storages and workspace of every operator are what its description says") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    for (const bool bias : {false, true}) {
      CAPTURE(to_string(dtype), bias);
      check_described(small_llama(dtype, bias));
    }
  }
}

TEST_CASE("storages and workspace are as described with casts between units") {
  install_counting_allocator();
  at::set_num_threads(1);
  check_described(llama_with_wide_norms());
}

TEST_CASE("storages and workspace are as described with frozen parameters") {
  install_counting_allocator();
  at::set_num_threads(1);
  const std::string layer = "model.layers.0.";
  for (const std::vector<std::string>& patterns :
       {std::vector<std::string>{"**.*_proj"},
        {"**.*norm*"},
        {"model.embed_tokens", layer + "input_layernorm", layer + "self_attn.q_proj"},
        {"model.embed_tokens", layer + "input_layernorm", layer + "self_attn.?_proj.weight"},
        {"model.embed_tokens", layer + "*layernorm", layer + "self_attn", layer + "mlp.gate_proj"},
        {"model.embed_tokens", "model.layers", "model.norm"}}) {
    for (const bool bias : {false, true}) {
      ModelGraph graph = small_llama(DType::float32, bias);
      REQUIRE_OK(freeze_parameters(graph, patterns));
      INFO(patterns.back() << (bias ? " with biases" : ""));
      check_described(graph);
    }
  }
}

}  // namespace shardlab::test
