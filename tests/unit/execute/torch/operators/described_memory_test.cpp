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
#include "engine/model/families/family.h"
#include "engine/model/freeze.h"
#include "engine/model/lora/add_adapters.h"
#include "engine/model/loss_operators.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/partition.h"
#include "engine/model/precision/assign_precision.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/model_run.h"

namespace shardlab::test {
namespace {

ModelGraph small_llama(DType dtype, bool bias, Implementation implementation = Implementation::fused) {
  const std::string text =
      std::string(
          R"({"model_type": "llama", "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 2,
    "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 130, "max_position_embeddings": 300)") +
      (bias ? R"(, "attention_bias": true, "mlp_bias": true})" : "}");
  const auto config = ModelConfig::parse(text, "small.json", {});
  REQUIRE_OK(config);
  GraphOptions options{2, 150, dtype, dtype};
  options.implementation = implementation;
  const auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return *graph;
}

// Norms in float32 between layers in bfloat16, with the casts that this takes.
ModelGraph llama_with_wide_norms() {
  ModelGraph graph = small_llama(DType::bfloat16, false);
  std::map<ModuleId, UnitPrecision> units{
      {ModuleId{0}, {DType::bfloat16, DType::bfloat16, std::nullopt, true}}};
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].class_name != "LlamaRMSNorm") continue;
    units[make_id<ModuleId>(i)] = {DType::float32, DType::float32, DType::bfloat16, true};
    for (const ParameterId id : graph.modules[i].parameters)
      graph.parameters[id.index()].dtype = DType::float32;
  }
  auto mixed = assign_precision(std::move(graph), units);
  REQUIRE_OK(mixed);
  return *std::move(mixed);
}

// Compares the ledger with what the program says, and the workspace of each operator with its description.
class Watch {
 public:
  Watch(const ModelGraph& graph, const MemoryLedger& ledger) : graph_(graph), ledger_(ledger) {}

  StepWatch steps(bool forward) {
    const Bytes start = ledger_.live().total;
    const auto compare = [this, start](Bytes live) { REQUIRE(ledger_.live().total == start + live); };
    return {compare, [this, forward](const auto& step, const auto& run) { operate(step, run, forward); },
            compare};
  }
  const std::map<std::string, Bytes>& workspace() const { return workspace_; }

 private:
  static Bytes given_back(const OperatorDescription& description) {
    Bytes sum;
    for (const Bytes block : description.backward_blocks) {
      if (!is_given_extra_block(block)) continue;
      const ExtraTensor& extra = description.extras[given_extra_of(block)];
      sum += bytes_of(element_count(extra.shape), extra.dtype);
    }
    return sum;
  }

  void operate(const ProgramStep& step, const std::function<void()>& run, bool forward) {
    if (step.kind == StepKind::accumulate) return run();
    const Operator& op = graph_.op(step.op);
    const OperatorDescription description = describe_operator(graph_, op);
    const Bytes before = ledger_.live().total;
    ledger_.reset_peak();
    run();
    const Bytes used = ledger_.peak().total - before,
                made = ledger_.live().total - before + (forward ? Bytes{} : given_back(description));
    INFO(op.type->name << (forward ? " forward" : " backward"));
    const bool allocates_itself = !forward && description.backward_temporaries_before > Bytes{};
    CHECK((made > Bytes{}) == allocates_itself);
    const Bytes stated =
        forward ? description.forward_workspace + description.forward_temporaries
                : std::max(description.backward_temporaries_before,
                           made + description.backward_workspace + description.backward_temporaries);
    // oneDNN's products of 16-bit numbers bring scratch memory of their own: below a megabyte.
    const bool chunked = op.type == &k_token_chunked_loss || op.type == &k_vocabulary_chunked_loss;
    const bool product = op.type == &k_linear || op.type == &k_linear_add || op.type == &k_grouped_linear ||
                         op.type == &k_eager_attention || op.type == &k_eager_capped_attention ||
                         op.type == &k_eager_math_attention || op.type == &k_eager_stepped_attention ||
                         op.type == &k_unfused_attention || chunked;
    const bool library =
        product && graph_.tensor(chunked ? op.inputs[0] : op.outputs[0]).dtype != DType::float32;
    // Torch's own operators wrap the numbers they are given in tensors of one element.
    const bool eager = op.type->name.starts_with("eager_") || op.type == &k_unfused_attention || chunked;
    CHECK(used.value >= stated.value);
    CHECK(used.value <= stated.value + (library ? 1 << 20 : eager ? 64 : 0));
    Bytes& largest = workspace_[std::string(op.type->name) + (forward ? " forward" : " backward")];
    largest = std::max(largest, used);
  }

  const ModelGraph& graph_;
  MemoryLedger ledger_;
  std::map<std::string, Bytes> workspace_;
};

void check_described(const ModelGraph& graph) {
  const c10::InferenceMode inference;
  const Partition partition = make_partition(graph, {}, {});
  REQUIRE(partition.segments.size() == 1);
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  ModelRun run(graph, partition.segments[0]);
  Watch watch(graph, ledger);
  run.forward(watch.steps(true));
  run.backward(watch.steps(false));
  CHECK(run.loss().item<float>() == Approx(std::log(130)).epsilon(0.1));
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const at::Tensor& gradient = run.gradients()[i].gradient;
    REQUIRE(gradient.defined() == graph.parameters[i].requires_grad);
    if (gradient.defined()) CHECK(at::isfinite(gradient).all().item<bool>());
  }
  for (const auto& [name, bytes] : watch.workspace()) {
    if (bytes.value > 0) {
      std::cout << "workspace " << to_string(graph.compute_dtype) << " " << name << ": " << to_string(bytes)
                << "\n";
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

TEST_CASE("storages and workspace are as described in every family") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const std::string& name : family_names()) {
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      CAPTURE(name, to_string(dtype));
      const bool short_model = name == "llama_dynamic";
      check_described(family_model(name, GraphOptions{2, short_model ? 24 : 60, dtype, dtype}));
    }
  }
}

TEST_CASE("storages and temporaries are as described in every family with eager operators") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const std::string& name : family_names()) {
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      CAPTURE(name, to_string(dtype));
      GraphOptions options{2, name == "llama_dynamic" ? 24 : 60, dtype, dtype};
      options.implementation = Implementation::eager;
      check_described(family_model(name, options));
    }
  }
}

// One sequence: queries are read where they are. float16: softmax writes float32 by itself on a device.
TEST_CASE("storages and temporaries are as described of attention with a soft cap") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const std::int64_t batch : {1, 2}) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
      CAPTURE(batch, to_string(dtype));
      GraphOptions options{batch, 60, dtype, dtype};
      options.implementation = Implementation::eager;
      check_described(family_model("gemma2", options));
    }
  }
}

// Where a device has no kernel: keys repeated or not, one sequence or several, in float32 or converted.
TEST_CASE("storages and temporaries are as described of attention by its formula") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const char* family : {"llama", "gemma", "phi"}) {
    for (const std::int64_t batch : {1, 2}) {
      for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
        CAPTURE(family, batch, to_string(dtype));
        GraphOptions options{batch, 60, dtype, dtype};
        options.implementation = Implementation::eager;
        ModelGraph graph = family_model(family, options);
        for (Operator& op : graph.operators)
          if (op.type == &k_attention) op.type = &k_eager_math_attention;
        check_described(graph);
      }
    }
  }
}

// With all scores in memory: keys repeated or not, a window, queries, keys and values in one; without dropout
// and with it wherever the family's modules have it.
TEST_CASE("storages and temporaries are as described of attention in all forms") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const auto& [family, form, implementation] :
       {std::tuple{"llama", AttentionForm::stepped, Implementation::eager},
        {"gemma", AttentionForm::stepped, Implementation::eager},
        {"phi", AttentionForm::stepped, Implementation::eager},
        {"gpt2", AttentionForm::stepped, Implementation::eager},
        {"mistral", AttentionForm::stepped, Implementation::eager},
        {"llama", AttentionForm::formula, Implementation::eager},
        {"llama", AttentionForm::unfused, Implementation::eager},
        {"phi", AttentionForm::unfused, Implementation::fused},
        {"gpt2", AttentionForm::unfused, Implementation::fused}}) {
    for (const std::int64_t batch : {1, 2}) {
      for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
        for (const double dropout : {0.0, 0.1}) {
          CAPTURE(family, form, batch, to_string(dtype), dropout);
          GraphOptions options{batch, 60, dtype, dtype};
          options.implementation = implementation;
          options.attention = form;
          options.dropout = dropout;
          check_described(family_model(family, options));
        }
      }
    }
  }
}

TEST_CASE("storages and temporaries are as described of attention with a copied output") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    CAPTURE(to_string(dtype));
    GraphOptions options{2, 60, dtype, dtype};
    options.implementation = Implementation::eager;
    ModelGraph graph = family_model("phi", options);
    for (Operator& op : graph.operators)
      if (op.type == &k_attention) op.type = &k_eager_copied_attention;
    check_described(graph);
  }
}

TEST_CASE("storages and temporaries are as described with chunked losses") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const char* name : {"llama", "phi", "gpt2"}) {  // a head of its own, one with a bias, a tied one
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      for (const LossChunks over : {LossChunks::of_tokens, LossChunks::of_vocabulary}) {
        CAPTURE(name, to_string(dtype), over == LossChunks::of_tokens);
        ModelGraph graph = family_model(name, GraphOptions{2, 60, dtype, dtype});
        REQUIRE_OK(chunk_loss(graph, over, 7));
        check_described(graph);
      }
    }
  }
}

TEST_CASE("storages and workspace are as described with casts between units") {
  install_counting_allocator();
  at::set_num_threads(1);
  check_described(llama_with_wide_norms());
}

TEST_CASE("storages and workspace are as described with adapters") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const LoraSpec& spec :
         {LoraSpec{4, 16, 0, {"q_proj", "v_proj"}, {}}, LoraSpec{3, 8, 0, {"all-linear"}, {"lm_head"}}}) {
      const auto graph = add_adapters(small_llama(dtype, true), spec);
      REQUIRE_OK(graph);
      check_described(*graph);
    }
  }
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
      for (const Implementation implementation : {Implementation::fused, Implementation::eager}) {
        for (const DType dtype : {DType::float32, DType::bfloat16}) {
          ModelGraph graph = small_llama(dtype, bias, implementation);
          REQUIRE_OK(freeze_parameters(graph, patterns));
          INFO(patterns.back() << (bias ? " with biases" : ""));
          check_described(graph);
        }
      }
    }
  }
}

}  // namespace shardlab::test
