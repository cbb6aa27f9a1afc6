// The precision pass: which casts stand where, what dtype each operator gets, what is refused.
#include "engine/model/precision/assign_precision.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/model/families/family.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

using Units = std::map<ModuleId, UnitPrecision>;

constexpr DType k_wide = DType::float32, k_narrow = DType::bfloat16;
constexpr UnitPrecision k_mixed{k_narrow, k_narrow, std::nullopt, true};

ModelGraph two_layers(DType compute = k_narrow) {
  const auto config =
      ModelConfig::parse(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256})",
                         "config.json", {});
  REQUIRE(config);
  const auto graph = build_model_graph(*config, {1, 16, k_wide, compute});
  REQUIRE(graph);
  return *graph;
}

// All units with one precision, then those of a class with another.
Units units_of(const ModelGraph& graph, const std::vector<std::string>& classes,
               const std::map<std::string, UnitPrecision>& special) {
  WrapSpec spec;
  spec.classes = classes;
  const auto wrapped = wrap_modules(graph, spec);
  REQUIRE(wrapped);
  Units units;
  for (const ModuleId module : wrapped->units) {
    const auto found = special.find(graph.module(module).class_name);
    units.emplace(module, found == special.end() ? k_mixed : found->second);
  }
  return units;
}

ModelGraph assigned(const ModelGraph& graph, const Units& units) {
  auto result = assign_precision(graph, units);
  if (!result) FAIL(to_string(result.error()));
  return *std::move(result);
}

std::string error_of(const ModelGraph& graph, const Units& units) {
  const auto result = assign_precision(graph, units);
  return result ? "no error" : to_string(result.error());
}

// "cast@model.layers.0:float32" for each cast, with its place in the operators' order.
std::vector<std::string> casts_of(const ModelGraph& graph) {
  std::vector<std::string> casts;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.type != &k_cast) continue;
    const auto next = i + 1 < graph.operators.size() ? graph.operators[i + 1].type->name : "end";
    casts.push_back(fmt::format("{} {} before {}", graph.module(op.module).path,
                                to_string(graph.tensor(op.outputs[0]).dtype), next));
  }
  return casts;
}

// Each operator's activations and outputs have one dtype, tensors stand in the order of their making, and the
// graph can be lowered.
void require_sound(const ModelGraph& graph, const Units& units) {
  std::uint32_t last = 0;
  for (const Operator& op : graph.operators) {
    INFO(op.type->name << " of " << graph.module(op.module).path);
    REQUIRE(op.outputs[0].value > last);
    last = op.outputs[0].value;
    if (op.type == &k_cast) {
      REQUIRE(graph.tensor(op.inputs[0]).dtype != graph.tensor(op.outputs[0]).dtype);
      continue;
    }
    for (const TensorId input : op.inputs) {
      const Tensor& tensor = graph.tensor(input);
      REQUIRE(input < op.outputs[0]);
      if (tensor.role == TensorRole::activation && op.type != &k_cross_entropy)
        REQUIRE(tensor.dtype == graph.tensor(op.outputs[0]).dtype);
    }
  }
  CHECK(graph.tensor(graph.loss).dtype == DType::float32);
  std::vector<ModuleId> modules;
  for (const auto& [module, precision] : units) modules.push_back(module);
  CHECK(make_partition(graph, modules, {}).segments.size() >= 2);
}

}  // namespace

TEST_CASE("precision: where nothing differs the graph stays as it is") {
  const ModelGraph graph = two_layers();
  const ModelGraph same = assigned(graph, units_of(graph, {}, {}));
  CHECK(same.operators.size() == graph.operators.size());
  CHECK(structure_hash(same) == structure_hash(graph));
}

TEST_CASE("precision: a unit in another dtype casts its input, and the next unit casts back") {
  const ModelGraph graph = two_layers();
  Units units = units_of(graph, {}, {});
  std::next(units.begin(), 1)->second.param = k_wide;  // the first layer
  const ModelGraph mixed = assigned(graph, units);
  require_sound(mixed, units);
  CHECK(casts_of(mixed) == std::vector<std::string>{"model.layers.0 float32 before rms_norm",
                                                    "model.layers.1 bfloat16 before rms_norm"});
}

TEST_CASE("precision: norms in float32 that hand out bfloat16") {
  const ModelGraph graph = two_layers();
  const Units units = units_of(graph, {"LlamaDecoderLayer", "LlamaRMSNorm"},
                               {{"LlamaRMSNorm", {k_wide, k_wide, k_narrow, true}}});
  const ModelGraph mixed = assigned(graph, units);
  require_sound(mixed, units);
  const std::vector<std::string> casts = casts_of(mixed);
  REQUIRE(casts.size() == 10);  // five norms, in and out
  CHECK(casts[0] == "model.layers.0.input_layernorm float32 before rms_norm");
  CHECK(casts[1] == "model.layers.0.input_layernorm bfloat16 before linear");
  CHECK(casts[9] == "model.norm bfloat16 before linear");
}

TEST_CASE("precision: without the output cast the layer after a wide norm is refused") {
  const ModelGraph graph = two_layers();
  const Units units = units_of(graph, {"LlamaDecoderLayer", "LlamaRMSNorm"},
                               {{"LlamaRMSNorm", {k_wide, k_wide, std::nullopt, true}}});
  CHECK(error_of(graph, units) ==
        "precision: linear of 'model.layers.0.self_attn.q_proj' would get an input in float32 while its "
        "parameters are in bfloat16: PyTorch "
        "fails there or promotes silently (give the unit 'model.layers.0' precision.cast_forward_inputs: "
        "true, or the unit that makes the "
        "input precision.output: bfloat16)");
}

TEST_CASE("precision: without input casts units of different dtypes are refused") {
  const ModelGraph graph = two_layers();
  const Units units = units_of(graph, {}, {{"LlamaDecoderLayer", {k_wide, k_wide, std::nullopt, false}}});
  CHECK(error_of(graph, units)
            .rfind("precision: rms_norm of 'model.layers.0.input_layernorm' would get an input in bfloat16",
                   0) == 0);
}

TEST_CASE("precision: output casts of all units widen the stream, input casts narrow it again") {
  const ModelGraph graph = two_layers();
  const Units units = units_of(graph, {},
                               {{"LlamaDecoderLayer", {k_narrow, k_narrow, k_wide, true}},
                                {"LlamaForCausalLM", {k_narrow, k_narrow, k_wide, true}}});
  const std::string error = error_of(graph, units);
  // The last layer hands float32 to the root's norm, whose parameters are bfloat16: PyTorch promotes
  // silently.
  CHECK_THAT(error, contains_text("rms_norm of 'model.norm' would get an input in float32"));
  // Only the root: the logits are cast, the loss reads float32.
  const Units root_only = units_of(graph, {}, {{"LlamaForCausalLM", {k_narrow, k_narrow, k_wide, true}}});
  const ModelGraph wide_logits = assigned(graph, root_only);
  require_sound(wide_logits, root_only);
  CHECK(casts_of(wide_logits) == std::vector<std::string>{" float32 before cross_entropy"});
}

TEST_CASE("precision: an inner unit's casts stand inside the outer unit's") {
  const ModelGraph graph = two_layers();
  // The layers compute in float32, their MLPs in bfloat16 and hand out float32.
  const Units units = units_of(graph, {"LlamaDecoderLayer", "LlamaMLP"},
                               {{"LlamaDecoderLayer", {k_wide, k_wide, k_narrow, true}},
                                {"LlamaMLP", {k_narrow, k_narrow, k_wide, true}}});
  const ModelGraph mixed = assigned(graph, units);
  require_sound(mixed, units);
  CHECK(casts_of(mixed) ==
        std::vector<std::string>{
            "model.layers.0 float32 before rms_norm", "model.layers.0.mlp bfloat16 before linear",
            "model.layers.0.mlp float32 before add", "model.layers.0 bfloat16 before cast",
            "model.layers.1 float32 before rms_norm", "model.layers.1.mlp bfloat16 before linear",
            "model.layers.1.mlp float32 before add", "model.layers.1 bfloat16 before rms_norm"});
}

TEST_CASE("precision: a sum of two dtypes is made in the wider, as torch promotes") {
  const ModelGraph graph = two_layers();
  // The MLP computes and answers in float32, the residual stream is bfloat16: the sum, and all after it, is
  // float32.
  Units units = units_of(graph, {"LlamaDecoderLayer", "LlamaMLP"}, {});
  for (auto& [module, precision] : units) {
    const std::string& path = graph.module(module).path;
    if (path == "model.layers.1.mlp") precision.param = k_wide;
    if (path.empty()) precision.output.reset();
    if (path == "model.layers.1") precision.output = k_narrow;
  }
  const ModelGraph mixed = assigned(graph, units);
  require_sound(mixed, units);
  CHECK(casts_of(mixed) == std::vector<std::string>{"model.layers.1.mlp float32 before linear",
                                                    "model.layers.1 float32 before add",
                                                    "model.layers.1 bfloat16 before rms_norm"});
}

TEST_CASE("precision: one cast serves all readers in a unit") {
  const ModelGraph graph = two_layers();
  // The attention's normed input is read by three projections.
  const Units units = units_of(graph, {"LlamaDecoderLayer", "LlamaAttention"},
                               {{"LlamaAttention", {k_wide, k_wide, k_narrow, true}}});
  const ModelGraph mixed = assigned(graph, units);
  require_sound(mixed, units);
  CHECK(casts_of(mixed).size() == 4);
}

}  // namespace shardlab::test
