// Selective checkpointing by kind of operator: what is kept, what is run again, and who lets go of what.
#include "engine/model/checkpoint_regions.h"
#include "engine/model/families/family.h"
#include "engine/model/operators/operator_type.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/unit/model/check_programs.h"

namespace shardlab::test {
namespace {

constexpr std::int64_t k_hidden = 64, k_inner = 176, k_keys = 32, k_heads = 4, k_tokens = 16;

struct Selective {
  ModelGraph graph;
  Partition partition;
};

ModelGraph llama() {
  const auto config = ModelConfig::parse(
      R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3,
          "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256,
          "max_position_embeddings": 64})",
      "config.json", {});
  REQUIRE(config);
  auto graph = build_model_graph(*config, {1, k_tokens, DType::float32, DType::float32});
  REQUIRE(graph);
  return *std::move(graph);
}

Selective selective(const std::vector<std::string>& kinds, const std::vector<OperatorId>& cuts = {}) {
  Selective made{llama(), {}};
  auto regions = checkpoint_regions(made.graph, 1, false, false);
  REQUIRE_OK(regions);
  std::vector<RetainedKind> parsed;
  for (const std::string& kind : kinds) {
    const auto one = parse_retained_kind(kind);
    REQUIRE_OK(one);
    parsed.push_back(*one);
  }
  REQUIRE_OK(retain_operators(made.graph, *regions, parsed));
  made.partition = make_partition(made.graph, wrap_modules(made.graph, WrapSpec{})->units, cuts, *regions);
  return made;
}

std::vector<std::string> run_by(const ModelGraph& graph, const Program& program) {
  std::vector<std::string> names;
  for (const ProgramStep& step : program.steps) {
    const std::string& path = graph.module(graph.op(step.op).module).path;
    names.push_back(std::string(graph.op(step.op).type->name) + " " + path.substr(path.rfind('.') + 1));
  }
  return names;
}

std::vector<std::string> labels(const ModelGraph& graph, const std::vector<TensorId>& tensors) {
  std::vector<std::string> names;
  for (const TensorId id : tensors) names.emplace_back(graph.tensor(id).label);
  return names;
}

Bytes bytes_of_all(const ModelGraph& graph, const std::vector<TensorId>& tensors) {
  Bytes sum;
  for (const TensorId id : tensors) sum += graph.tensor(id).bytes();
  return sum;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "products and attention are kept, the rest is run again up to the last tensor that backward needs") {
  const Selective made = selective({"linear", "attention"});
  const Segment& layer = made.partition.segments[2];
  CHECK(labels(made.graph, layer.retained) == Names{"query", "key", "value", "attended", "log_sum_exp",
                                                    "attention_output", "gate", "up", "mlp_output"});
  const std::int64_t numbers = k_hidden + 2 * k_keys + k_hidden + k_heads + k_hidden + 2 * k_inner + k_hidden;
  CHECK(bytes_of_all(made.graph, layer.retained) == Bytes{4 * k_tokens * numbers});
  CHECK(run_by(made.graph, layer.programs.recompute) ==
        Names{"rms_norm input_layernorm", "rope self_attn", "rope self_attn", "add 1",
              "rms_norm post_attention_layernorm", "swiglu mlp"});
}

TEST_CASE("what only the recomputation reads goes with it, the rest with backward") {
  const Selective made = selective({"linear", "attention"});
  const SegmentPrograms& programs = made.partition.segments[2].programs;
  CHECK(labels(made.graph, programs.recompute_frees) == Names{"query", "key", "attention_output"});
  CHECK(labels(made.graph, programs.backward_frees) ==
        Names{"value", "attended", "log_sum_exp", "gate", "up", "mlp_output"});
}

TEST_CASE("every second product of a layer, beginning with the first") {
  const Selective made = selective({"linear/2"});
  CHECK(labels(made.graph, made.partition.segments[1].retained) ==
        Names{"query", "value", "gate", "mlp_output"});
}

TEST_CASE("a backward needs the same whether it was kept or made again") {
  const Selective full = selective({});
  const Selective some = selective({"linear", "attention"});
  const Segment &was = full.partition.segments[2], &is = some.partition.segments[2];
  CHECK(is.programs.backward.steps.size() == was.programs.backward.steps.size());
  // Value, attention's output with its log-sum-exp, gate and up: kept from forward on.
  CHECK(was.programs.saved_bytes - is.programs.saved_bytes ==
        Bytes{4 * k_tokens * (k_keys + k_hidden + k_heads + 2 * k_inner)});
  CHECK(is.programs.recompute.peak < was.programs.recompute.peak);
}

TEST_CASE("programs with retained tensors balance, wherever a region is cut") {
  const std::vector<OperatorId> cuts = {OperatorId{3}, OperatorId{9}, OperatorId{12}, OperatorId{17},
                                        OperatorId{20}};
  for (const std::vector<std::string>& kinds :
       {Names{"linear"}, Names{"linear/2", "attention"}, Names{"rms_norm"}, Names{"add", "swiglu"},
        Names{"linear", "attention", "rms_norm", "rope", "swiglu", "add"}}) {
    for (const auto& some : {std::vector<OperatorId>{}, cuts}) {
      const Selective made = selective(kinds, some);
      INFO(kinds.front() << ", " << some.size() << " cuts");
      std::size_t retained = 0, freed = 0;
      for (const Segment& segment : made.partition.segments) {
        check_balance(segment);
        retained += segment.retained.size();
        freed += segment.programs.recompute_frees.size() + segment.programs.backward_frees.size();
      }
      CHECK(retained > 0);
      CHECK(freed == retained);
    }
  }
}

TEST_CASE("kinds that are none, and none that are there, are refused") {
  const auto message = [](const std::string& text) { return to_string(parse_retained_kind(text).error()); };
  CHECK_THAT(message("linaer"), contains_text("did you mean 'linear'?"));
  CHECK_THAT(message("linear/0"), contains_text("a whole number from 1"));
  CHECK_THAT(message("linear/x"), contains_text("linear/2 keeps every second"));
  ModelGraph graph = llama();
  auto regions = checkpoint_regions(graph, 1, false, false);
  REQUIRE_OK(regions);
  const Status none = retain_operators(graph, *regions, {*parse_retained_kind("gelu")});
  REQUIRE_FALSE(none);
  CHECK_THAT(to_string(none.error()), contains_text("no checkpointed layer has an operator 'gelu'"));
}

}  // namespace shardlab::test
