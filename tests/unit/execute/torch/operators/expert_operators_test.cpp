// The operators of experts against autograd of plain formulas, as one graph: which rows go where is decided
// by the first of them.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/families/decoder_parts.h"
#include "engine/model/partition.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/model_run.h"
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

constexpr std::int64_t k_batch = 2, k_sequence = 9, k_hidden = 24, k_width = 20;

// The whole block, from an embedding to a loss over its output: so every gradient is asked for.
ModelGraph expert_graph(std::int64_t count, std::int64_t per_token, bool normalized) {
  DecoderParts parts("test", {k_batch, k_sequence}, 0.5);
  const ModuleId model = parts.builder.add_module(std::nullopt, "", "Test");
  const LinearPart embed = parts.define_embedding(model, "embed", 40, k_hidden);
  ExpertsPart experts{
      parts.builder.add_module(model, "mlp", "Block"), {}, {}, {}, {}, count, per_token, k_width, normalized};
  parts.define_experts(experts, "Test", k_hidden, true, "SiLU");
  const LinearPart head = parts.define_linear(model, "head", k_hidden, 40, false);
  const TensorId out = parts.run_experts(experts, parts.embed(embed));
  const TensorId logits = parts.linear(head, out, "logits");
  return parts.builder.finish(parts.loss(model, logits), "Block", 1, 40);
}

at::Tensor plain_experts(const at::Tensor& x, const std::vector<at::Tensor>& p, std::int64_t per_token,
                         bool normalized) {
  const at::Tensor rows = x.reshape({-1, k_hidden});
  const at::Tensor probabilities = at::softmax(at::matmul(rows, p[1].t()), -1);
  auto [weights, chosen] = at::topk(probabilities, per_token, -1);
  if (normalized) weights = weights / weights.sum(-1, true);
  at::Tensor sum = at::zeros_like(rows);
  for (std::int64_t slot = 0; slot < per_token; ++slot) {
    const at::Tensor experts = chosen.select(1, slot);
    const at::Tensor gate_up = at::bmm(p[2].index_select(0, experts), rows.unsqueeze(2)).squeeze(2);
    const at::Tensor act = at::silu(gate_up.narrow(1, 0, k_width)) * gate_up.narrow(1, k_width, k_width);
    const at::Tensor out = at::bmm(p[3].index_select(0, experts), act.unsqueeze(2)).squeeze(2);
    sum = sum + out * weights.select(1, slot).unsqueeze(1);
  }
  return sum.reshape(x.sizes());
}

void compare(const Place& place, std::int64_t count, std::int64_t per_token, bool normalized) {
  CAPTURE(count, per_token, normalized);
  const ModelGraph graph = expert_graph(count, per_token, normalized);
  const Partition partition = make_partition(graph, {}, {});
  at::Generator generator = at::detail::createCPUGenerator(3);
  const at::Tensor tokens = at::randint(40, {k_batch, k_sequence}, generator, at::kLong);
  const at::Tensor targets = at::randint(40, {k_batch, k_sequence}, generator, at::kLong);
  std::vector<at::Tensor> parameters;
  ModelRun run(graph, partition.segments[0], place);
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const at::Tensor value = random(graph.parameters[i].shape, at::kFloat, i + 1) * 0.4;
    run.set_parameter(graph.parameters[i].name, value);
    parameters.push_back(value.to(at::kDouble).set_requires_grad(true));
  }
  run.set_batch(tokens, targets);
  {
    const c10::NoGradGuard no_grad;
    run.forward();
    run.backward();
  }
  const at::Tensor x = at::embedding(parameters[0], tokens);
  const at::Tensor logits =
      at::matmul(plain_experts(x, parameters, per_token, normalized), parameters[4].t());
  const at::Tensor loss = at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten());
  CHECK(run.loss().item<double>() == Approx(loss.item<double>()).epsilon(1e-6));
  const auto gradients = torch::autograd::grad({loss}, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    INFO(graph.parameters[i].name);
    CHECK(relative_difference(run.gradients()[i].gradient, gradients[i]) < 5e-6);
  }
}

// Two layers with experts, the second behind a residual, and the balancing loss of both routers.
ModelGraph balanced_graph(std::int64_t count, std::int64_t per_token, double weight) {
  DecoderParts parts("test", {k_batch, k_sequence}, 0.5);
  const ModuleId model = parts.builder.add_module(std::nullopt, "", "Test");
  const LinearPart embed = parts.define_embedding(model, "embed", 40, k_hidden);
  std::vector<ExpertsPart> layers;
  for (const char* name : {"first", "second"}) {
    ExpertsPart experts{parts.builder.add_module(model, name, "Block"),
                        {},
                        {},
                        {},
                        {},
                        count,
                        per_token,
                        k_width,
                        true,
                        true};
    parts.define_experts(experts, "Test", k_hidden, true, "SiLU");
    layers.push_back(experts);
  }
  const LinearPart head = parts.define_linear(model, "head", k_hidden, 40, false);
  TensorId x = parts.embed(embed);
  for (const ExpertsPart& experts : layers) x = parts.add(model, x, parts.run_experts(experts, x));
  return parts.builder.finish(parts.loss(model, parts.linear(head, x, "logits"), weight), "Block", 2, 40);
}

// load_balancing_loss_func of transformers for one layer: assignments and probabilities, added up.
void add_router(const at::Tensor& x, const at::Tensor& router, std::int64_t per_token,
                at::Tensor& assignments, at::Tensor& probabilities) {
  const at::Tensor weights = at::softmax(at::matmul(x.reshape({-1, k_hidden}), router.t()), -1);
  const at::Tensor chosen = std::get<1>(at::topk(weights, per_token, -1));
  assignments = assignments + at::bincount(chosen.flatten(), {}, router.size(0)).to(at::kDouble);
  probabilities = probabilities + weights.sum(0);
}

}  // namespace

TEST_CASE("experts and every gradient, weights made to add up to 1 or not") {
  for (const Place& place : all_places()) {
    INFO(place.name);
    for (const bool normalized : {true, false}) {
      compare(place, 5, 2, normalized);
      compare(place, 3, 3, normalized);   // all of them
      compare(place, 40, 4, normalized);  // some experts have no rows
      if (!normalized)
        compare(place, 4, 1, normalized);  // else the weight is 1 and the router learns nothing
    }
  }
}

TEST_CASE("experts count the products of all rows, whatever is assumed of the load") {
  const std::int64_t assignments = k_batch * k_sequence * 2;
  const ModelGraph graph = expert_graph(6, 2, true);
  std::vector<OperatorDescription> found;
  for (const Operator& op : graph.operators) {
    if (op.type == &k_grouped_linear) found.push_back(describe_operator(graph, op));
  }
  REQUIRE(found.size() == 2);
  CHECK(found[0].forward[0].flops.value == 2 * assignments * k_hidden * 2 * k_width);
  CHECK(found[1].forward[0].flops.value == 2 * assignments * k_hidden * k_width);
  CHECK(found[0].forward[0].kernels == 6);
  CHECK(found[0].forward[0].m == assignments / 6);
  CHECK(found[0].backward.size() == 2);
  CHECK(active_parameters(graph) == total_parameters(graph) - 4 * 3 * k_hidden * k_width);
}

TEST_CASE("an assumed load is no part of a graph's structure") {
  ModelGraph graph = expert_graph(6, 2, true);
  const std::string before = structure_hash(graph);
  for (Operator& op : graph.operators) {
    if (op.type == &k_grouped_linear)
      op.attributes = {{attribute::k_per_token, 2}, {attribute::k_assumed_groups, 2}};
  }
  CHECK(structure_hash(graph) == before);
  for (Operator& op : graph.operators) {
    if (op.type == &k_grouped_linear)
      op.attributes = {{attribute::k_per_token, 3}, {attribute::k_assumed_groups, 2}};
  }
  CHECK(structure_hash(graph) != before);
}

TEST_CASE("the balancing loss of routers and its gradients") {
  for (const auto& [count, per_token, weight] :
       {std::tuple{4, 1, 0.5}, std::tuple{6, 3, 0.02}, std::tuple{5, 2, 10.0}}) {
    CAPTURE(count, per_token, weight);
    const ModelGraph graph = balanced_graph(count, per_token, weight);
    const Partition partition = make_partition(graph, {}, {});
    at::Generator generator = at::detail::createCPUGenerator(4);
    const at::Tensor tokens = at::randint(40, {k_batch, k_sequence}, generator, at::kLong);
    const at::Tensor targets = at::randint(40, {k_batch, k_sequence}, generator, at::kLong);
    std::vector<at::Tensor> p;
    ModelRun run(graph, partition.segments[0]);
    for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
      const at::Tensor value = random(graph.parameters[i].shape, at::kFloat, i + 1) * 0.4;
      run.set_parameter(graph.parameters[i].name, value);
      p.push_back(value.to(at::kDouble).set_requires_grad(true));
    }
    run.set_batch(tokens, targets);
    {
      const c10::NoGradGuard no_grad;
      run.forward();
      run.backward();
    }
    at::Tensor assignments = at::zeros({count}, at::kDouble), probabilities = at::zeros({count}, at::kDouble);
    at::Tensor x = at::embedding(p[0], tokens);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const std::vector<at::Tensor> own{p[0], p[1 + 3 * layer], p[2 + 3 * layer], p[3 + 3 * layer]};
      add_router(x, own[1], per_token, assignments, probabilities);
      x = x + plain_experts(x, own, per_token, true);
    }
    const double rows = 2 * k_batch * k_sequence;
    const at::Tensor logits = at::matmul(x, p[7].t());
    const at::Tensor balance = count * (assignments / rows * (probabilities / rows)).sum();
    const at::Tensor loss =
        at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten()) + weight * balance;
    CHECK(balance.item<double>() > 0.9 * per_token);  // of evenly spread tokens it is their experts' number
    CHECK(run.loss().item<double>() == Approx(loss.item<double>()).epsilon(1e-6));
    const auto gradients = torch::autograd::grad({loss}, p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      INFO(graph.parameters[i].name);
      CHECK(relative_difference(run.gradients()[i].gradient, gradients[i]) < 1e-5);
    }
  }
}

}  // namespace shardlab::test
