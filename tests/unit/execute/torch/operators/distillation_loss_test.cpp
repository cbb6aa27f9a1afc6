// distillation_loss against autograd of its plain formula: torch's cross_entropy and kl_div.
#include <ATen/Parallel.h>

#include <cmath>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

struct Distillation {
  double temperature = 1;
  double weight = 0.5;
};

at::Tensor targets_below(std::int64_t classes, const Shape& shape) {
  return at::randint(classes, shape, at::detail::createCPUGenerator(5), at::TensorOptions(at::kLong));
}

SingleOperator make(const at::Tensor& student, const at::Tensor& targets, const at::Tensor& teacher,
                    const Distillation& terms) {
  return {k_distillation_loss,
          {{student.clone()}, {targets, false}, {teacher.clone(), false}},
          {},
          {},
          {{attribute::k_temperature, terms.temperature}, {attribute::k_weight, terms.weight}}};
}

// As people write it.
PlainFunction plain(const Distillation& terms) {
  return [terms](const auto& inputs, const auto&) {
    const at::Tensor s = inputs[0].flatten(0, 1), t = inputs[2].flatten(0, 1);
    const at::Tensor hard = at::cross_entropy_loss(s, inputs[1].flatten());
    const at::Tensor soft = at::kl_div(at::log_softmax(s / terms.temperature, -1),
                                       at::softmax(t / terms.temperature, -1), at::Reduction::Sum) /
                            s.size(0);
    return (1 - terms.weight) * hard + terms.weight * terms.temperature * terms.temperature * soft;
  };
}

}  // namespace

TEST_CASE(
    "distillation_loss is cross-entropy and divergence, and writes the student's gradient over its logits") {
  const auto dtypes = {at::kFloat, at::kBFloat16, at::kHalf};
  for (const at::ScalarType student_dtype : dtypes) {
    for (const at::ScalarType teacher_dtype : dtypes) {
      for (const std::int64_t classes : {2, 33, 1024, 2500}) {
        for (const Distillation& terms :
             {Distillation{1, 0.5}, Distillation{2, 0.9}, Distillation{4, 1}, Distillation{0.5, 0.1}}) {
          CAPTURE(student_dtype, teacher_dtype, classes, terms.temperature, terms.weight);
          const at::Tensor student = random({2, 37, classes}, student_dtype, 1) * 2;
          SingleOperator single = make(student, targets_below(classes, {2, 37}),
                                       random({2, 37, classes}, teacher_dtype, 2) * 3, terms);
          const Outcome expected = reference(single, plain(terms), {}, 0.25);
          const at::Tensor plain_sums = at::logsumexp(student.to(at::kDouble), -1).flatten();
          for (const Place& place : all_places()) {
            CAPTURE(place.name);
            SingleOperator there = single.copy_at(place);
            const Outcome actual = there.run({}, 0.25);
            CHECK(relative_difference(actual.output, expected.output) <
                  2e-6);  // float32 whatever the logits are
            CHECK(relative_difference(actual.input_gradients[0], expected.input_gradients[0]) <
                  2 * tolerance_of(student_dtype));
            CHECK(actual.input_gradients[0].data_ptr() == there.inputs[0].value.data_ptr());
            CHECK(relative_difference(actual.extras[0].select(1, 0), plain_sums) < 2e-6);
          }
        }
      }
    }
  }
}

TEST_CASE("a student that is its teacher has no divergence, however large the logits") {
  const at::Tensor logits = random({1, 8, 3000}, at::kFloat, 1) * 30;
  const SingleOperator single = make(logits, targets_below(3000, {1, 8}), logits, {2, 1});
  for (const Place& place : all_places()) {
    CAPTURE(place.name);
    const Outcome outcome = single.copy_at(place).run({});
    CHECK(std::abs(outcome.output.item<double>()) < 1e-8);
    CHECK(outcome.input_gradients[0].abs().max().item<double>() < 1e-8);
  }
}

// The divergence is far smaller than a float32's rounding of the logarithms of the sums beside it.
TEST_CASE("models that nearly agree have their divergence to float32's digits") {
  for (const std::int64_t classes : {256, 2500}) {
    for (const double apart : {0.1, 0.01}) {
      CAPTURE(classes, apart);
      const at::Tensor student = random({2, 32, classes}, at::kFloat, 1);
      const at::Tensor teacher = student + random({2, 32, classes}, at::kFloat, 2) * apart;
      const SingleOperator single = make(student, targets_below(classes, {2, 32}), teacher, {4, 1});
      const auto expected = reference(single, plain({4, 1}), {}).output.item<double>();
      for (const Place& place : all_places()) {
        CAPTURE(place.name);
        CHECK(std::abs(single.copy_at(place).forward().output.item<double>() / expected - 1) <
              (apart == 0.1 ? 1e-6 : 1e-5));
      }
    }
  }
}

// What a plain loop computes, in the places where a plain loop has it.
TEST_CASE("the eager distillation_loss is cross-entropy and divergence too") {
  install_counting_allocator();
  at::set_num_threads(1);
  for (const at::ScalarType student_dtype : {at::kFloat, at::kBFloat16}) {
    for (const at::ScalarType teacher_dtype : {at::kFloat, at::kBFloat16}) {
      for (const Distillation& terms : {Distillation{1, 0.5}, Distillation{2, 0.9}, Distillation{0.5, 0.1}}) {
        CAPTURE(student_dtype, teacher_dtype, terms.temperature, terms.weight);
        require_as_reference(
            {k_eager_distillation_loss,
             {{random({2, 37, 33}, student_dtype, 1) * 2},
              {targets_below(33, {2, 37}), false},
              {random({2, 37, 33}, teacher_dtype, 2) * 3, false}},
             {},
             {},
             {{attribute::k_temperature, terms.temperature}, {attribute::k_weight, terms.weight}}},
            plain(terms), student_dtype == at::kFloat ? 4e-6 : 4 * tolerance_of(student_dtype));
      }
    }
  }
}

TEST_CASE("distillation_loss does not depend on the number of threads") {
  SingleOperator single = make(random({3, 70, 900}, at::kFloat, 1), targets_below(900, {3, 70}),
                               random({3, 70, 900}, at::kFloat, 2), {3, 0.7});
  at::set_num_threads(1);
  const at::Tensor one = single.forward().output;
  at::set_num_threads(3);
  const at::Tensor three = single.forward().output;
  at::set_num_threads(1);
  CHECK(at::equal(one, three));
}

TEST_CASE("distillation_loss passes NaN on and refuses a target that is no class") {
  at::Tensor logits = at::zeros({1, 2, 40}, at::kFloat);
  const at::Tensor targets = at::zeros({1, 2}, at::kLong), zeros = at::zeros({1, 2, 40}, at::kFloat);
  logits[0][1][17] = std::numeric_limits<float>::quiet_NaN();
  CHECK(at::isnan(make(logits, targets, zeros, {}).forward().output).item<bool>());
  CHECK(at::isnan(make(zeros, targets, logits, {}).forward().output).item<bool>());
  CHECK_THROWS_WITH(make(zeros, targets + 40, zeros, {}).forward(), contains_text("number of classes"));
}

// The description by hand: 6 rows of 5 classes, a float32 student, a bfloat16 teacher.
TEST_CASE("distillation_loss keeps and moves what its description says") {
  install_counting_allocator();
  at::set_num_threads(1);
  SingleOperator single = make(random({2, 3, 5}, at::kFloat, 1), targets_below(5, {2, 3}),
                               random({2, 3, 5}, at::kBFloat16, 2), {2, 0.5});
  const OperatorDescription description = describe_operator(single.graph(), single.graph().operators[0]);
  CHECK(description.saved_inputs == 0b111);  // 6 x 5 x 4 B, 6 x 8 B, 6 x 5 x 2 B
  CHECK(description.saved_outputs == 0);
  REQUIRE(description.extras.size() == 1);
  CHECK(element_count(description.extras[0].shape) == 18);
  CHECK(description.forward[0].bytes == Bytes{6 * 5 * (4 + 2)});
  CHECK(description.backward[0].bytes == Bytes{6 * 5 * (4 + 2 + 4)});
  CHECK(description.forward[0].flops.value == 0);  // memory-bound, as cross_entropy

  const Operator& op = single.graph().operators[0];
  std::vector<at::Tensor> inputs;
  for (const OperatorInput& input : single.inputs) inputs.push_back(input.value);
  at::Tensor loss = at::empty({}, at::kFloat), sums = at::empty({6, 3}, at::kFloat);
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  const OperatorImplementation& implementation = *find_implementation("distillation_loss");
  const std::vector<at::Tensor> extras{sums};
  implementation.forward({op, single.graph(), inputs, {}, {&loss, 1}, extras});
  const std::vector<at::Tensor> gradients{inputs[0], at::Tensor(), at::Tensor()}, none{at::Tensor()};
  implementation.backward({op, single.graph(), none, 1, inputs, none, {}, extras, gradients, {}});
  CHECK(ledger.peak().total == Bytes{});
}

// In float32 tensors of 6 x 500, as torch 2.11's own storages were counted while a plain loop ran: with
// copies of the logits 7 in forward, 3 kept, 5 in backward with those; 5, 3 and 5 where the logits are
// float32, of which one is the student's gradient.
TEST_CASE("the eager distillation_loss holds what a plain loop holds") {
  install_counting_allocator();
  at::set_num_threads(1);
  const Bytes wide{6 * 500 * 4};
  for (const auto dtype : {at::kBFloat16, at::kFloat}) {
    CAPTURE(dtype);
    const bool copied = dtype == at::kBFloat16;
    SingleOperator single{k_eager_distillation_loss,
                          {{random({2, 3, 500}, dtype, 1)},
                           {targets_below(500, {2, 3}), false},
                           {random({2, 3, 500}, dtype, 2), false}},
                          {},
                          {},
                          {{attribute::k_temperature, 2}, {attribute::k_weight, 0.5}}};
    const Operator& op = single.graph().operators[0];
    const OperatorDescription description = describe_operator(single.graph(), op);
    CHECK(description.saved_inputs == 0b010);
    CHECK(description.forward_temporaries == wide * (copied ? 5 : 3));
    CHECK(description.backward_temporaries_before == (copied ? wide * 2 + Bytes{4} : Bytes{}));
    CHECK(description.backward_temporaries == wide + Bytes{4});
    REQUIRE(description.extras.size() == 4);

    std::vector<at::Tensor> inputs, extras;
    for (const OperatorInput& input : single.inputs) inputs.push_back(input.value);
    for (const ExtraTensor& extra : description.extras) extras.push_back(at::empty(extra.shape, at::kFloat));
    at::Tensor loss = at::empty({}, at::kFloat);
    const at::Tensor gradient = at::empty_like(inputs[0]);
    const OperatorImplementation& implementation = *find_implementation("eager_distillation_loss");
    {
      const MemoryLedger ledger;
      const LedgerScope counted(ledger);
      implementation.forward({op, single.graph(), inputs, {}, {&loss, 1}, extras});
      CHECK(ledger.peak().total.value == description.forward_temporaries.value);
    }
    const std::vector<at::Tensor> gradients{gradient, at::Tensor(), at::Tensor()}, none{at::Tensor()};
    const MemoryLedger ledger;
    const LedgerScope counted(ledger);
    implementation.backward({op, single.graph(), none, 1, inputs, none, {}, extras, gradients, {}});
    CHECK(ledger.peak().total ==
          std::max(description.backward_temporaries_before, description.backward_temporaries));
  }
}

}  // namespace shardlab::test
