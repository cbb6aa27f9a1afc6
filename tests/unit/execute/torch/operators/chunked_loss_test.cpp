// Chunked losses against head and cross-entropy of autograd, whatever the number of chunks; and what they
// keep and compute by hand.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

constexpr std::int64_t k_batch = 3, k_sequence = 5, k_width = 24, k_vocabulary = 41;

SingleOperator chunked(const OperatorType& type, at::ScalarType dtype, int chunks, bool bias,
                       bool of_input = true) {
  const at::Tensor targets =
      at::arange(k_batch * k_sequence).mul_(7).remainder_(k_vocabulary).view({k_batch, k_sequence});
  std::vector<at::Tensor> parameters{random({k_vocabulary, k_width}, dtype, 2)};
  if (bias) parameters.push_back(random({k_vocabulary}, dtype, 3));
  return {type,
          {{random({k_batch, k_sequence, k_width}, dtype, 1), of_input}, {targets, false}},
          parameters,
          {},
          {{attribute::k_chunks, chunks}}};
}

at::Tensor plain(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& parameters) {
  const at::Tensor bias = parameters.size() > 1 ? parameters[1] : at::Tensor();
  const at::Tensor logits = at::linear(inputs[0].flatten(0, 1), parameters[0], bias);
  return at::cross_entropy_loss(logits, inputs[1].flatten());
}

constexpr std::int64_t k_teachers_width = 36;
constexpr double k_temperature = 2, k_weight = 0.7;

// A student's head and its teacher's, wider one in one loss.
SingleOperator chunked_distillation(at::ScalarType dtype, at::ScalarType teachers, int chunks, bool bias,
                                    bool of_input = true) {
  const SingleOperator alone = chunked(k_token_chunked_loss, dtype, chunks, bias, of_input);
  std::vector<OperatorInput> inputs = alone.inputs;
  inputs.push_back({random({k_batch, k_sequence, k_teachers_width}, teachers, 4), false});
  std::vector<at::Tensor> parameters = alone.parameters;
  parameters.push_back(random({k_vocabulary, k_teachers_width}, teachers, 5) * 0.3);
  SingleOperator single{k_chunked_distillation,
                        std::move(inputs),
                        std::move(parameters),
                        {},
                        {{attribute::k_chunks, chunks},
                         {attribute::k_temperature, k_temperature},
                         {attribute::k_weight, k_weight}}};
  single.freeze_last(1);
  return single;
}

// The plain loss of a distillation, on whole logits.
at::Tensor plain_distillation(const std::vector<at::Tensor>& inputs,
                              const std::vector<at::Tensor>& parameters) {
  const at::Tensor bias = parameters.size() > 2 ? parameters[1] : at::Tensor();
  const at::Tensor s = at::linear(inputs[0].flatten(0, 1), parameters[0], bias);
  const at::Tensor t = at::linear(inputs[2].flatten(0, 1), parameters.back());
  const at::Tensor hard = at::cross_entropy_loss(s, inputs[1].flatten());
  const at::Tensor soft = at::kl_div(at::log_softmax(s / k_temperature, -1),
                                     at::softmax(t / k_temperature, -1), at::Reduction::Sum) /
                          s.size(0);
  return (1 - k_weight) * hard + k_weight * k_temperature * k_temperature * soft;
}

Flops flops(const std::vector<Work>& works, bool of_model) {
  Flops sum;
  for (const Work& work : works) sum += of_model ? work.model_flops : work.flops;
  return sum;
}

}  // namespace

TEST_CASE("chunked losses equal head and cross-entropy for every number of chunks") {
  for (const OperatorType* type : {&k_token_chunked_loss, &k_vocabulary_chunked_loss}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      for (const int chunks : {1, 2, 4, 15, 41, 100}) {
        for (const bool bias : {false, true}) {
          CAPTURE(type->name, dtype, chunks, bias);
          // Sums of parts are rounded to the dtype part by part.
          require_as_reference(chunked(*type, dtype, chunks, bias), plain, dtype == at::kFloat ? 2e-6 : 3e-2);
        }
      }
    }
  }
}

TEST_CASE("a distillation over parts of the tokens equals the plain one, whatever their number") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    for (const at::ScalarType teachers : {at::kFloat, at::kBFloat16}) {
      for (const int chunks : {1, 2, 4, 15, 100}) {
        for (const bool bias : {false, true}) {
          CAPTURE(dtype, teachers, chunks, bias);
          const bool exact = dtype == at::kFloat && teachers == at::kFloat;
          require_as_reference(chunked_distillation(dtype, teachers, chunks, bias), plain_distillation,
                               exact ? 4e-6 : 4e-2);
        }
      }
    }
  }
  require_as_reference(chunked_distillation(at::kFloat, at::kFloat, 4, false, false), plain_distillation,
                       4e-6);
}

TEST_CASE("what a distillation over parts of the tokens computes and keeps, by hand") {
  const std::int64_t rows = k_batch * k_sequence;
  const SingleOperator single = chunked_distillation(at::kFloat, at::kBFloat16, 4, false);
  const OperatorDescription description = describe_operator(single.graph(), single.graph().operators[0]);
  CHECK(flops(description.forward, false) ==
        Flops{2 * rows * k_vocabulary * (3 * k_width + k_teachers_width)});
  CHECK(flops(description.backward, false) == Flops{0});
  CHECK(description.saved_inputs == 0);
  REQUIRE(description.extras.size() == 2);  // as without a teacher
  CHECK(description.extras[1].shape == Shape{k_vocabulary, k_width});
  // Logits of 4 rows of either model, three sums of each row, the loss of the part.
  CHECK(description.forward_temporaries == Bytes{4 * k_vocabulary * (4 + 2) + 4 * 3 * 4 + 4});
}

TEST_CASE("chunked losses without a wanted gradient of their input") {
  for (const OperatorType* type : {&k_token_chunked_loss, &k_vocabulary_chunked_loss}) {
    CAPTURE(type->name);
    require_as_reference(chunked(*type, at::kFloat, 4, true, false), plain, 2e-6);
  }
}

TEST_CASE("logits far from zero do not overflow a chunked loss") {
  for (const OperatorType* type : {&k_token_chunked_loss, &k_vocabulary_chunked_loss}) {
    CAPTURE(type->name);
    SingleOperator single = chunked(*type, at::kFloat, 3, false);
    single.inputs[0].value.mul_(1e4);
    const Outcome outcome = single.run({});
    CHECK(at::isfinite(outcome.output).all().item<bool>());
    CHECK(at::isfinite(outcome.input_gradients[0]).all().item<bool>());
    CHECK(outcome.output.item<double>() ==
          Approx(reference(single, plain, {}).output.item<double>()).epsilon(1e-5));
  }
}

TEST_CASE("a target beyond the vocabulary is an error of a chunked loss") {
  for (const OperatorType* type : {&k_token_chunked_loss, &k_vocabulary_chunked_loss}) {
    SingleOperator single = chunked(*type, at::kFloat, 3, false);
    single.inputs[1].value[1][1] = k_vocabulary;
    CHECK_THROWS_WITH(single.forward(), contains_text("target 41 of row 6"));
  }
}

TEST_CASE("what chunked losses compute and keep, by hand") {
  const std::int64_t rows = k_batch * k_sequence, product = 2 * rows * k_width * k_vocabulary;
  const SingleOperator tokens = chunked(k_token_chunked_loss, at::kFloat, 4, false);
  const OperatorDescription of_tokens = describe_operator(tokens.graph(), tokens.graph().operators[0]);
  CHECK(flops(of_tokens.forward, false) == Flops{3 * product});
  CHECK(flops(of_tokens.backward, false) == Flops{0});
  CHECK(of_tokens.saved_inputs == 0);
  REQUIRE(of_tokens.extras.size() == 2);
  CHECK(of_tokens.extras[0].shape == Shape{rows, k_width});
  CHECK(of_tokens.extras[1].shape == Shape{k_vocabulary, k_width});
  CHECK(of_tokens.forward_temporaries ==
        Bytes{4 * k_vocabulary * 4 + 4 * 4});  // 4 rows of 15 in the largest part

  const SingleOperator words = chunked(k_vocabulary_chunked_loss, at::kFloat, 4, false);
  const OperatorDescription of_words = describe_operator(words.graph(), words.graph().operators[0]);
  CHECK(flops(of_words.forward, false) == Flops{product});
  CHECK(flops(of_words.backward, false) == Flops{3 * product});
  CHECK(flops(of_words.backward, true) == Flops{2 * product});  // MFU does not count what is computed again
  CHECK(of_words.saved_inputs == 0b11);
  REQUIRE(of_words.extras.size() == 1);
  CHECK(of_words.extras[0].shape == Shape{rows});
  CHECK(of_words.backward_temporaries == Bytes{rows * 11 * 4});  // 11 columns of 41 in the largest part
}

}  // namespace shardlab::test
