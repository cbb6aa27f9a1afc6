// A student and its teacher as one graph.
#include "engine/model/join_teacher.h"

#include <algorithm>

#include "engine/model/families/family.h"
#include "engine/model/loss_operators.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/partition.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

ModelGraph family(const std::string& name, const std::map<std::string, std::string>& overrides = {}) {
  const auto config = ModelConfig::read(test::data_file("families/" + name + ".json"), overrides);
  REQUIRE_OK(config);
  const auto graph = build_model_graph(*config, GraphOptions{2, 24, DType::float32, DType::float32});
  REQUIRE_OK(graph);
  return *graph;
}

ModelGraph joined(const ModelGraph& student, const ModelGraph& teacher) {
  const auto graph = join_teacher(student, teacher, {2, 0.25});
  REQUIRE_OK(graph);
  return *graph;
}

}  // namespace

TEST_CASE("join: the student is what it was, the teacher stands behind it with names of its own") {
  const ModelGraph student = family("llama"), teacher = family("qwen3_moe");
  const ModelGraph both = joined(student, teacher);
  REQUIRE(both.teacher);
  CHECK(both.family == "llama");
  CHECK(both.teacher->family == "qwen3_moe");
  CHECK(both.modules.size() == student.modules.size() + teacher.modules.size());
  REQUIRE(both.parameters.size() == student.parameters.size() + teacher.parameters.size());
  for (std::size_t i = 0; i < student.parameters.size(); ++i) {
    CHECK(both.parameters[i].name == student.parameters[i].name);
    CHECK(both.parameters[i].trainable);
    CHECK_FALSE(both.is_teachers(make_id<ParameterId>(i)));
  }
  for (std::size_t i = 0; i < teacher.parameters.size(); ++i) {
    const Parameter& parameter = both.parameters[student.parameters.size() + i];
    CHECK(parameter.name == "teacher." + teacher.parameters[i].name);
    CHECK_FALSE(parameter.trainable);
    CHECK_FALSE(parameter.requires_grad);
    CHECK(both.module(parameter.module).path ==
          "teacher." + teacher.module(teacher.parameters[i].module).path);
    CHECK(both.is_teachers(make_id<ParameterId>(student.parameters.size() + i)));
  }
  CHECK(both.module(both.teacher->root).path == "teacher");
  CHECK_FALSE(both.module(both.teacher->root).parent);
}

TEST_CASE("join: nothing of the teacher requires a gradient, and it ends with its logits") {
  const ModelGraph both = joined(family("gpt2"), family("gemma2"));
  for (OperatorId id{0}; id < both.teacher->end; ++id.value) {
    for (const TensorId output : both.op(id).outputs) {
      CHECK_FALSE(both.tensor(output).requires_grad);
      CHECK(both.is_teachers(output));
    }
    CHECK(both.op(id).type != &k_cross_entropy);
  }
  const Operator& last = both.op(OperatorId{both.teacher->end.value - 1});
  CHECK(last.outputs.back() == both.teacher->logits);
  const Operator& loss = both.operators.back();
  CHECK(loss.type == &k_distillation_loss);
  CHECK(loss.inputs[2] == both.teacher->logits);
  CHECK(loss.attributes.get(attribute::k_temperature) == 2);
  CHECK(loss.attributes.get(attribute::k_weight) == 0.25);
  CHECK(both.loss == loss.outputs[0]);
  for (std::size_t i = 0; i < both.operators.size(); ++i) {
    for (const TensorId input : both.operators[i].inputs) CHECK(input.index() < both.tensors.size());
  }
}

TEST_CASE("join: tokens and targets are loaded once") {
  const ModelGraph both = joined(family("llama"), family("llama"));
  const auto count = [&](TensorRole role) {
    return std::count_if(both.tensors.begin(), both.tensors.end(),
                         [&](const Tensor& tensor) { return tensor.role == role; });
  };
  CHECK(count(TensorRole::tokens) == 1);
  CHECK(count(TensorRole::targets) == 1);
  CHECK(both.op(OperatorId{0}).inputs[0] == both.op(both.teacher->end).inputs[0]);
}

TEST_CASE("join: units of both models, none of the teacher's keeps or runs anything for a backward") {
  const ModelGraph student = family("llama"), teacher = family("gpt2");
  const ModelGraph both = joined(student, teacher);
  std::vector<ModuleId> wrapped;
  for (std::size_t i = 0; i < both.modules.size(); ++i) {
    const std::string& name = both.modules[i].class_name;
    if (name == "LlamaDecoderLayer" || name == "GPT2Block") wrapped.push_back(make_id<ModuleId>(i));
  }
  const Partition partition = make_partition(both, wrapped, {});
  std::vector<std::string> names;
  for (const Unit& unit : partition.units) {
    names.push_back(unit.name);
    CHECK(unit.teacher == unit.name.starts_with("teacher."));
    CHECK(unit.parameters_require_grad != unit.teacher);
    CHECK_FALSE((unit.teacher && (unit.inputs_require_grad || unit.outputs_require_grad)));
  }
  CHECK(names == std::vector<std::string>{"root", "u0", "u1", "teacher.root", "teacher.u0", "teacher.u1"});
  for (const Segment& segment : partition.segments) {
    const bool teachers = partition.unit(segment.unit).teacher;
    CHECK(segment.programs.has_backward() != teachers);
    if (teachers) CHECK(segment.programs.saved_bytes.value == 0);
  }
}

TEST_CASE("join: names as the checkpoints of the two have them") {
  const ModelGraph student = family("llama"), teacher = family("qwen3_moe");
  const ModelGraph both = joined(student, teacher);
  const ModelGraph of_student = parameters_of_student(both), of_teacher = parameters_of_teacher(both);
  CHECK(of_teacher.family == "qwen3_moe");
  REQUIRE(of_student.parameters.size() == student.parameters.size());
  REQUIRE(of_teacher.parameters.size() == teacher.parameters.size());
  REQUIRE(of_teacher.modules.size() == teacher.modules.size());
  for (std::size_t i = 0; i < teacher.parameters.size(); ++i) {
    CHECK(of_teacher.parameters[i].name == teacher.parameters[i].name);
    CHECK(of_teacher.parameters[i].module == teacher.parameters[i].module);
  }
  for (std::size_t i = 0; i < teacher.modules.size(); ++i) {
    CHECK(of_teacher.modules[i].path == teacher.modules[i].path);
    CHECK(of_teacher.modules[i].parameters == teacher.modules[i].parameters);
    CHECK(of_teacher.modules[i].parent == teacher.modules[i].parent);
  }
}

TEST_CASE("join: under a loss in parts the teacher's head is a part of it, and no logits are whole") {
  ModelGraph student = family("llama");
  REQUIRE_OK(chunk_loss(student, LossChunks::of_tokens, 3));
  const ModelGraph teacher = family("qwen3_moe"), both = joined(student, teacher);
  const Operator& loss = both.operators.back();
  CHECK(loss.type == &k_chunked_distillation);
  CHECK(loss.attributes.get(attribute::k_chunks) == 3);
  CHECK(loss.attributes.get(attribute::k_temperature) == 2);
  REQUIRE(loss.inputs.size() == 3);
  CHECK(loss.inputs[2] == both.teacher->logits);  // what its head makes them of
  CHECK(both.tensor(loss.inputs[2]).shape.back() != both.vocabulary);
  REQUIRE(loss.parameters.size() == 2);
  CHECK(both.parameter(loss.parameters[0]).name == "lm_head.weight");
  CHECK(both.parameter(loss.parameters[1]).name == "teacher.lm_head.weight");
  for (const Tensor& tensor : both.tensors)
    CHECK((tensor.shape.empty() || tensor.shape.back() != both.vocabulary));
}

TEST_CASE("join: what has no loss in parts is refused by name") {
  ModelGraph over_words = family("llama"), over_tokens = family("llama");
  REQUIRE_OK(chunk_loss(over_words, LossChunks::of_vocabulary, 3));
  CHECK_THAT(to_string(join_teacher(over_words, family("llama"), {}).error()),
             test::contains_text("over: tokens"));
  REQUIRE_OK(chunk_loss(over_tokens, LossChunks::of_tokens, 3));
  CHECK_THAT(to_string(join_teacher(over_tokens, family("gemma2"), {}).error()),  // a soft cap on its logits
             test::contains_text("not supported yet for a teacher like gemma2"));
}

TEST_CASE("join: other vocabularies are refused with what to do") {
  const auto graph = join_teacher(family("llama"), family("qwen3", {{"vocab_size", "131"}}), {});
  REQUIRE_FALSE(graph);
  CHECK(to_string(graph.error()) ==
        "distillation.teacher: its vocabulary has 131 entries, the student's 130 (a divergence compares the "
        "probabilities of the same "
        "tokens: take models with one tokenizer; where only the padding differs, set vocab_size in the "
        "overrides of one)");
}

}  // namespace shardlab
