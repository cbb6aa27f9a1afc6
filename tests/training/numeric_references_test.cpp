// Training follows the reference implementation: losses, gradient norms and first gradients of transformers'
// Llama, GPT-2 and Qwen3-MoE under PyTorch, from the same weights and data (tests/data/numeric).
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/checkpoint/safetensors.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/formula_weights.h"
#include "tests/training/local_run.h"

namespace shardlab::test {
namespace {

std::string scenario_of(const std::string& model) {
  return "name: numeric\nmodel: {config: ../data/numeric/" + model + "_config.json, sequence_length: 128}\n" +
         R"(
cluster: {device: cpu, ranks: 1, threads_per_rank: 1}
train: {data: ../data/numeric/tokens.bin, order: sequential, learning_rate: 3e-4, betas: [0.9, 0.95],
        epsilon: 1e-8, weight_decay: 0.1, clip_norm: 1.0}
)";
}

using NamedNumbers = std::map<std::string, std::vector<double>>;

struct ReferenceRun {
  std::string name;
  double limit = 0, norm_limit = 0;
  std::vector<std::string> overrides;
  NamedNumbers gradients;  // l2 norms by parameter
  std::vector<double> losses, norms;
};

struct References {
  NamedNumbers weights;  // sum, l2 norm, first three values
  std::vector<ReferenceRun> runs;

  const ReferenceRun& run(const std::string& name) const {
    const auto found =
        std::find_if(runs.begin(), runs.end(), [&](const ReferenceRun& run) { return run.name == name; });
    REQUIRE(found != runs.end());
    return *found;
  }
};

std::vector<double> rest_of(std::istringstream& words) {
  std::vector<double> numbers;
  for (double number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

void read_line(const std::string& line, References& references) {
  std::istringstream words(line);
  std::string key, name;
  words >> key;
  if (key == "weight" || key == "gradient" || key == "run" || key == "set") words >> name;
  if (key == "weight") {
    references.weights[name] = rest_of(words);
  } else if (key == "run") {
    references.runs.emplace_back().name = name;
  } else {
    REQUIRE_FALSE(references.runs.empty());
    ReferenceRun& run = references.runs.back();
    const std::vector<double> numbers = rest_of(words);
    if (key == "set") run.overrides.push_back(name);
    if (key == "limit") run.limit = numbers.at(0);
    if (key == "norm_limit") run.norm_limit = numbers.at(0);
    if (key == "gradient") run.gradients[name] = numbers;
    if (key == "loss") run.losses = numbers;
    if (key == "norm") run.norms = numbers;
  }
}

const References& references(const std::string& model) {
  static std::map<std::string, References> all;
  const auto [found, is_new] = all.try_emplace(model);
  if (is_new) {
    std::ifstream file(data_file("numeric/" + model + ".txt"));
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line[0] != '#') read_line(line, found->second);
    }
    REQUIRE_FALSE(found->second.runs.empty());
  }
  return found->second;
}

NamedTensors formula_weights(const ModelGraph& graph) {
  NamedTensors weights;
  for (const Parameter& parameter : graph.parameters) {
    const at::Tensor values = at::empty(parameter.shape, at::kFloat);
    for (const PublishedPiece& piece : published_pieces(parameter.name, parameter.shape)) {
      fill_formula_weights(piece.name,
                           {values.data_ptr<float>() + piece.first, static_cast<std::size_t>(piece.count)});
    }
    weights[parameter.name] = values;
  }
  return weights;
}

// Tensor by tensor as published: experts one by one.
void write_weights(const std::filesystem::path& file, const NamedTensors& weights) {
  std::vector<TensorToWrite> all;
  for (const auto& [name, tensor] : weights) {
    const Shape shape = tensor.sizes().vec();
    for (const PublishedPiece& piece : published_pieces(name, shape)) {
      const bool whole = piece.count == tensor.numel() && piece.name == name;
      const std::span values(tensor.data_ptr<float>() + piece.first, static_cast<std::size_t>(piece.count));
      all.push_back({piece.name, DType::float32,
                     whole ? shape : Shape{piece.count / shape.back(), shape.back()}, std::as_bytes(values)});
    }
  }
  REQUIRE_OK(write_safetensors(file, all));
}

double worst_relative(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] / wanted[i] - 1));
  return worst;
}

double l2_norm(const at::Tensor& tensor) {
  return tensor.to(at::kDouble).norm().item<double>();
}

Trained follow(const std::string& model, const ReferenceRun& run) {
  std::vector<std::string> overrides = run.overrides;
  const PlannedScenario untrained = planned_text(scenario_of(model), overrides);
  const TemporaryFolder folder;
  const std::filesystem::path weights = folder.path() / "model.safetensors";
  write_weights(weights, formula_weights(untrained.graph));
  overrides.push_back("model.weights=" + weights.string());
  Result<Trained> trained =
      train(planned_text(scenario_of(model), overrides), static_cast<int>(run.losses.size()));
  REQUIRE_OK(trained);
  return *std::move(trained);
}

void check_run(const std::string& model, const std::string& name) {
  const ReferenceRun& run = references(model).run(name);
  REQUIRE(run.losses.size() >= 10);
  const Trained trained = follow(model, run);
  const double loss = worst_relative(trained.losses, run.losses);
  const double norm = worst_relative(trained.gradient_norms, run.norms);
  CHECK(loss <= run.limit);
  CHECK(norm <= run.norm_limit);
  const NamedNumbers& gradients = references(model).run("single").gradients;  // the same of every run
  REQUIRE(gradients.size() == trained.gradients.size());
  double gradient = 0;
  for (const auto& [parameter, l2] : gradients)
    gradient = std::max(gradient, std::abs(l2_norm(trained.gradients.at(parameter)) / l2.at(0) - 1));
  CHECK(gradient <= run.norm_limit);
  fmt::print(
      "{:<10} {:<11} loss {:.4f} to {:.4f}, worst {:.1e} of {:.0e}; norms worst {:.1e}, of a first gradient "
      "{:.1e}, "
      "of {:.0e}\n",
      model, name, trained.losses.front(), trained.losses.back(), loss, run.limit, norm, gradient,
      run.norm_limit);
}

}  // namespace

TEST_CASE("weights of the numerical references follow their formula") {
  for (const char* model : {"llama", "gpt2", "qwen3_moe"}) {
    const ModelGraph graph = planned_text(scenario_of(model)).graph;
    const NamedTensors weights = formula_weights(graph);
    const NamedNumbers& expected = references(model).weights;
    std::size_t pieces = 0;
    for (const Parameter& parameter : graph.parameters) {
      for (const PublishedPiece& piece : published_pieces(parameter.name, parameter.shape)) {
        INFO(piece.name);
        REQUIRE(expected.count(piece.name) == 1);
        const std::vector<double>& figures = expected.at(piece.name);
        const at::Tensor flat = weights.at(parameter.name).view({-1}).narrow(0, piece.first, piece.count);
        CHECK(flat.to(at::kDouble).sum().item<double>() == Approx(figures.at(0)).epsilon(1e-6));
        CHECK(l2_norm(flat) == Approx(figures.at(1)).epsilon(1e-7));
        for (std::int64_t i = 0; i < 3; ++i)
          CHECK(flat[i].item<double>() == Approx(figures.at(static_cast<std::size_t>(i) + 2)).epsilon(1e-8));
        ++pieces;
      }
    }
    CHECK(pieces == expected.size());
  }
}

TEST_CASE("numerical reference: single") {
  check_run("llama", "single");
}
TEST_CASE("numerical reference: single_ga2") {
  check_run("llama", "single_ga2");
}
TEST_CASE("numerical reference: fsdp2") {
  check_run("llama", "fsdp2");
}
TEST_CASE("numerical reference: fsdp2_ga2") {
  check_run("llama", "fsdp2_ga2");
}
TEST_CASE("numerical reference: fsdp1") {
  check_run("llama", "fsdp1");
}
TEST_CASE("numerical reference: fsdp2_bf16") {
  check_run("llama", "fsdp2_bf16");
}

TEST_CASE("numerical reference: gpt2") {
  for (const char* run : {"single", "fsdp2", "fsdp2_bf16"}) check_run("gpt2", run);
}
TEST_CASE("numerical reference: qwen3_moe") {
  for (const char* run : {"single", "fsdp2", "fsdp2_bf16"}) check_run("qwen3_moe", run);
}

}  // namespace shardlab::test
