// How many configurations a second a search bounds and simulates on one core: Llama-3-70B under FSDP2 and
// FSDP1, one micro-batch, each configuration different, from its settings to its result.
//
// Prints rates beside the targets of 200,000 estimates and 2,000 simulations a second; judges nothing.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "simulator/search/estimate_parts.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/read_question.h"
#include "simulator/search/search_space.h"

namespace shardlab {
namespace {

constexpr const char* k_scenario =
    "model: {config: llama-3-70b, sequence_length: 4096}\n"
    "cluster: {node: dgx-h100, nodes: 8}\n"
    "parallel: {strategy: fsdp2}\n"
    "precision: {param: bfloat16, reduce: float32}\n"
    "train: {micro_batch: 1}\n";
constexpr const char* k_question =
    "scenario: scenario.yaml\n"
    "vary:\n"
    "  train.micro_batch: [1]\n"
    "  train.accumulation: [1]\n"
    "  cluster.nodes: [8, 16, 32, 64]\n"
    "  parallel: [{strategy: fsdp2}, {strategy: fsdp2, reshard_after_forward: false}, {strategy: fsdp1},\n"
    "             {strategy: fsdp1, sharding: shard_grad_op}]\n"
    "  activation.checkpoint: [none, full]\n"
    "  model.loss: [{kind: plain}, {kind: chunked, chunks: 8}]\n";

constexpr const char* k_many =
    "scenario: scenario.yaml\n"
    "vary:\n"
    "  train.micro_batch: [1]\n"
    "  train.accumulation: {from: 1, to: 64, step: 1}\n"
    "  cluster.nodes: {from: 2, to: 65, step: 1}\n"
    "  parallel: [{strategy: fsdp2}, {strategy: fsdp2, reshard_after_forward: false}, {strategy: fsdp1},\n"
    "             {strategy: fsdp1, sharding: shard_grad_op}]\n"
    "  activation.checkpoint: [none, full]\n"
    "  model.loss: [{kind: plain}, {kind: chunked, chunks: 8}]\n"
    "  train.optimizer: [adamw, sgd]\n";

template <typename T>
T required(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", to_string(result.error()));
  std::exit(1);
}

void print(const char* what, std::size_t count, double seconds, double target) {
  const double rate = static_cast<double>(count) / seconds;
  fmt::print("  {:<22} {:10.1f} a second ({:7.3f} ms each)  target {:>7}: {}\n", what, rate, 1e3 / rate,
             target, rate >= target ? "met" : "NOT MET");
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Estimates all of a space as large as a search takes: what its parts are read from, and each combination.
void estimates(const std::filesystem::path& folder) {
  std::ofstream(folder / "many.yaml") << k_many;
  const SearchQuestion question = required(read_question(folder / "many.yaml"));
  const SearchSpace space = required(SearchSpace::of(question));
  ResultFile kept;
  Evaluator evaluator(question.base, {}, kept);
  std::size_t bounded = 0;
  const double seconds = seconds_of([&] {
    const EstimateParts parts(space, evaluator, 1);
    for (std::uint64_t i = 0; i < space.size(); ++i) bounded += parts.bounds_of(space.at(i)).step_ns > 0;
  });
  fmt::print("  {} configurations, {} with a bound of time\n", space.size(), bounded);
  print("estimates", space.size(), seconds, 200'000);
}

void simulations(const std::filesystem::path& folder) {
  std::ofstream(folder / "question.yaml") << k_question;
  const SearchQuestion question = required(read_question(folder / "question.yaml"));
  const SearchSpace space = required(SearchSpace::of(question));
  ResultFile kept;
  Evaluator evaluator(question.base, {}, kept);
  std::vector<Configuration> configurations;
  for (std::uint64_t i = 0; i < space.size(); ++i) configurations.push_back(space.at(i));
  const double seconds = seconds_of([&] {
    for (const Configuration& each : configurations) required(evaluator.evaluate(each.settings));
  });
  print("simulations", configurations.size(), seconds, 2'000);
}

}  // namespace
}  // namespace shardlab

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "shardlab-search-speed";
  std::filesystem::create_directories(folder);
  fmt::print("Llama-3-70B, one thread\n");
  std::ofstream(folder / "scenario.yaml") << shardlab::k_scenario;
  shardlab::estimates(folder);
  shardlab::simulations(folder);
  std::filesystem::remove_all(folder);
}
