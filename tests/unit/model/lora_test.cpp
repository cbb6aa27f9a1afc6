// Low-rank adapters: which layers get them, what the module tree, the operators and what they keep become.
#include <set>

#include "engine/model/families/family.h"
#include "engine/model/lora/add_adapters.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/model/check_programs.h"

namespace shardlab::test {
namespace {

ModelGraph model(const std::filesystem::path& file) {
  const auto config = ModelConfig::read(file, {});
  REQUIRE_OK(config);
  auto graph = build_model_graph(*config, {1, 16, DType::float32, DType::float32});
  REQUIRE_OK(graph);
  return *std::move(graph);
}

ModelGraph small(const std::string& family = "llama") {
  return model(data_file("families/" + family + ".json"));
}

ModelGraph adapted(ModelGraph graph, const LoraSpec& spec) {
  auto with = add_adapters(std::move(graph), spec);
  REQUIRE_OK(with);
  return *std::move(with);
}

std::string refusal(ModelGraph graph, const LoraSpec& spec) {
  const auto with = add_adapters(std::move(graph), spec);
  REQUIRE_FALSE(with);
  return to_string(with.error());
}

std::vector<std::string> trained_names(const ModelGraph& graph) {
  std::vector<std::string> names;
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.trainable) names.push_back(parameter.name);
  }
  return names;
}

const std::vector<std::string> k_query_value{"q_proj", "v_proj"};

}  // namespace

// "trainable params: 4,194,304 || all params: 6,742,609,920", as peft prints it for these settings in many
// published trainings; 6,815,744 for Llama-3-8B with rank 16.
TEST_CASE("adapters have as many parameters as published") {
  const auto known = [](const std::string& name) {
    return model(source_folder() / "assets/models" / name / "config.json");
  };
  const ModelGraph llama2 = adapted(known("llama-2-7b"), {8, 16, 0, k_query_value, {}});
  CHECK(trainable_parameters(llama2) == 4'194'304);
  CHECK(total_parameters(llama2) == 6'742'609'920);
  CHECK(trainable_parameters(adapted(known("llama-3-8b"), {16, 16, 0, k_query_value, {}})) == 6'815'744);
}

TEST_CASE("an adapter's modules, names, shapes and first values are peft's") {
  const ModelGraph before = small();
  const ModelGraph graph = adapted(before, {4, 16, 0, {"self_attn.q_proj"}, {}});
  const std::string path = "model.layers.0.self_attn.q_proj";
  std::vector<std::string> tree;
  for (const Module& module : graph.modules) {
    if (module.path.starts_with(path))
      tree.push_back(module.path.substr(path.size()) + " " + module.class_name);
  }
  CHECK(tree == std::vector<std::string>{
                    " Linear", ".base_layer Linear", ".lora_dropout ModuleDict",
                    ".lora_dropout.default Identity", ".lora_A ModuleDict", ".lora_A.default Linear",
                    ".lora_B ModuleDict", ".lora_B.default Linear", ".lora_embedding_A ParameterDict",
                    ".lora_embedding_B ParameterDict", ".lora_magnitude_vector ModuleDict"});
  CHECK(trained_names(graph) ==
        std::vector<std::string>{path + ".lora_A.default.weight", path + ".lora_B.default.weight",
                                 "model.layers.1.self_attn.q_proj.lora_A.default.weight",
                                 "model.layers.1.self_attn.q_proj.lora_B.default.weight"});
  const Parameter &base = graph.parameters[1], &a = graph.parameters[2], &b = graph.parameters[3];
  CHECK(base.name == path + ".base_layer.weight");
  CHECK(base.base_name == path + ".weight");
  CHECK(a.shape == Shape{4, 48});
  CHECK(a.scale == Approx(1 / std::sqrt(48.0)));
  CHECK(b.shape == Shape{48, 4});
  CHECK(b.initial == InitialValue::zeros);
  CHECK(before.parameters.size() + 4 == graph.parameters.size());
}

// peft 0.21.2 for a LoraConfig without target_modules; beside peft itself in tests/peers/families.py.
TEST_CASE("where nobody names layers peft has its own for a type of model") {
  const auto layers = [](const std::string& family) {
    std::set<std::string> names;
    for (const std::string& name : trained_names(adapted(small(family), {2, 8, 0, {"peft-default"}, {}}))) {
      const std::string layer = name.substr(0, name.find(".lora_"));
      names.insert(layer.substr(layer.rfind('.') + 1));
    }
    return names;
  };
  using Names = std::set<std::string>;
  for (const char* family : {"llama", "qwen2", "qwen3", "gemma", "mixtral"})
    CHECK(layers(family) == Names{"q_proj", "v_proj"});
  CHECK(layers("gpt2") == Names{"c_attn"});
  CHECK(layers("phi") == Names{"q_proj", "v_proj", "fc1", "fc2"});
  const std::string told = refusal(small("qwen3_moe"), {2, 8, 0, {"peft-default"}, {}});
  CHECK_THAT(told, contains_text("peft chooses no layers of qwen3_moe by itself"));
  CHECK_THAT(told, contains_text("[q_proj, k_proj, v_proj, o_proj]"));
}

TEST_CASE("targets are last names, whole paths, patterns or all linear layers") {
  const auto adapters = [](const std::vector<std::string>& targets, const std::string& family = "llama") {
    return trained_names(adapted(small(family), {2, 8, 0, targets, {}})).size() / 2;
  };
  CHECK(adapters({"q_proj"}) == 2);
  CHECK(adapters({"self_attn.q_proj", "v_proj"}) == 4);
  CHECK(adapters({"model.layers.1.mlp.down_proj"}) == 1);
  CHECK(adapters({"model.layers.*.mlp.*_proj"}) == 6);
  CHECK(adapters({"**.?_proj"}) == 8);
  CHECK(adapters({"all-linear"}) == 14);
  CHECK(adapters({"all-linear", "lm_head"}) == 15);
  CHECK(adapters({"all-linear"}, "gpt2") == 8);
  CHECK(adapters({"all-linear"}, "qwen3_moe") == 8);  // a router is no Linear, experts are no modules
  CHECK(adapters({"query_key_value"}, "falcon_new") == 2);
}

TEST_CASE("a module to save has a trained copy beside its frozen original") {
  const ModelGraph graph = adapted(small(), {2, 8, 0, k_query_value, {"lm_head", "model.norm"}});
  std::vector<std::string> saved;
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.name.find("original_module") == std::string::npos &&
        parameter.name.find("modules_to_save") == std::string::npos)
      continue;
    saved.push_back(parameter.name + (parameter.trainable ? " trained of " : " frozen of ") +
                    parameter.base_name);
  }
  CHECK(saved ==
        std::vector<std::string>{"model.norm.original_module.weight frozen of model.norm.weight",
                                 "model.norm.modules_to_save.default.weight trained of model.norm.weight",
                                 "lm_head.original_module.weight frozen of lm_head.weight",
                                 "lm_head.modules_to_save.default.weight trained of lm_head.weight"});
  // A layer trained as a whole gets no adapter.
  const ModelGraph head = adapted(small(), {2, 8, 0, {"q_proj", "lm_head"}, {"lm_head"}});
  CHECK(trained_names(head).size() == 5);
}

TEST_CASE("names that fit nothing, and layers that take no adapter, are refused") {
  CHECK_THAT(refusal(small(), {2, 8, 0, {"q_prj"}, {}}), contains_text("did you mean 'q_proj'?"));
  CHECK_THAT(refusal(small(), {2, 8, 0, {"embed_tokens"}, {}}),
             contains_text("not supported yet: an adapter on 'model.embed_tokens', a Embedding"));
  CHECK_THAT(refusal(small(), {2, 8, 0, {"self_attn"}, {}}), contains_text("a LlamaAttention"));
  CHECK_THAT(refusal(small("mixtral"), {2, 8, 0, {"gate"}, {}}), contains_text("a MixtralTopKRouter"));
  CHECK_THAT(refusal(small(), {2, 8, 0, {"q_proj"}, {"mlp"}}),
             contains_text("name the layers in it one by one"));
  CHECK_THAT(refusal(small(), {2, 8, 0, {"q_proj"}, {"rotary_emb"}}), contains_text("has no parameters"));
  CHECK_THAT(refusal(small(), {2, 8, 0, {"q_proj"}, {"lm_hed"}}), contains_text("did you mean 'lm_head'?"));
  CHECK_THAT(refusal(small("gpt2"), {2, 8, 0, {"c_attn"}, {"wte"}}), contains_text("has a tied parameter"));
  CHECK_THAT(refusal(small(), {2, 8, 0, {"lm_head"}, {"lm_head"}}), contains_text("no layer is left"));
}

TEST_CASE("a layer with adapters keeps what they need, and the frozen layers nothing") {
  const ModelGraph graph = adapted(small(), {4, 16, 0, k_query_value, {}});
  const Partition partition = make_partition(graph, wrap_modules(graph, WrapSpec{})->units, {});
  for (const Segment& segment : partition.segments) check_balance(segment);
  // Second layer, float32 numbers a token: the second norm's input (the first one's is the layer's own), the
  // first norm's output for A of q and v, two times 4 of low rank, q, k, v and attention's output and
  // log-sum-exp, gate, up, deviations of the norms.
  const std::int64_t h = 48, kv = 24, f = 80, heads = 4;
  CHECK(partition.segments[2].programs.saved_bytes.value ==
        16 * 4 * (h + h + 2 * 4 + h + 2 * kv + h + heads + 2 * f + 2));
  // Nothing flows into the first layer's inputs.
  CHECK(partition.segments[1].programs.gradient_outputs.empty());
  CHECK_FALSE(partition.segments[0].programs.has_backward());
}

// torch.nn.functional.dropout on a GPU is native_dropout: what it makes, and a mask of a byte an element, are
// kept; its input is not.
TEST_CASE("dropout makes an adapter keep a copy of its input and a mask") {
  const auto saved = [](double dropout) {
    const ModelGraph graph = adapted(small(), {4, 16, dropout, k_query_value, {}});
    const Partition partition = make_partition(graph, wrap_modules(graph, WrapSpec{})->units, {});
    for (const Segment& segment : partition.segments) check_balance(segment);
    return partition.segments[2].programs.saved_bytes.value;
  };
  const std::int64_t h = 48;
  // Both q and v have a copy and a mask, instead of the norm's output that both read.
  CHECK(saved(0.1) == saved(0) + 16 * (2 * h * (4 + 1) - h * 4));
}

TEST_CASE("an adapter with dropout has peft's module for it") {
  const ModelGraph graph = adapted(small(), {4, 16, 0.1, k_query_value, {}});
  const auto dropout = std::find_if(graph.modules.begin(), graph.modules.end(), [](const Module& module) {
    return module.path == "model.layers.0.self_attn.q_proj.lora_dropout.default";
  });
  REQUIRE(dropout != graph.modules.end());
  CHECK(dropout->class_name == "Dropout");
}

TEST_CASE("programs with adapters balance in every family") {
  for (const auto& entry : std::filesystem::directory_iterator(data_file("families"))) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().stem().string());
    const ModelGraph graph = adapted(model(entry.path()), {3, 8, 0.1, {"all-linear"}, {}});
    for (const Segment& segment : make_partition(graph, wrap_modules(graph, WrapSpec{})->units, {}).segments)
      check_balance(segment);
  }
}

TEST_CASE("no rank, no adapters") {
  const ModelGraph graph = small();
  CHECK(structure_hash(adapted(graph, {})) == structure_hash(graph));
}

}  // namespace shardlab::test
