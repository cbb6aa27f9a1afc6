// How many configurations a second a search bounds and simulates on one core: Llama-3-70B under FSDP2 and
// FSDP1, one micro-batch, each configuration different, from its settings to its result.
//
// Prints rates beside the targets of 200,000 estimates and 2,000 simulations a second, how much faster two
// threads are, and how long a search of a million configurations takes on two; judges nothing. With words
// (estimates, simulations, long, million) those parts alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/base/in_parallel.h"
#include "simulator/search/estimate_parts.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/question/read_question.h"
#include "simulator/search/search.h"
#include "simulator/search/search_space.h"
#include "tests/benchmarks/required.h"

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

// Steps of 16 to 128 micro-batches.
constexpr const char* k_long_steps =
    "scenario: scenario.yaml\n"
    "vary:\n"
    "  train.micro_batch: [1]\n"
    "  train.accumulation: {from: 16, to: 128, step: 1}\n"
    "  cluster.nodes: [8, 16]\n"
    "  parallel: [{strategy: fsdp2}, {strategy: fsdp2, reshard_after_forward: false}]\n";

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

constexpr const char* k_million =
    "scenario: scenario.yaml\n"
    "offers: [{node: dgx-h100, nodes: {least: 1, most: 64}, price: 98, date: '2026-01-01', source: a test}]\n"
    "train: {tokens: 1T}\n"
    "vary:\n"
    "  train.micro_batch: [1, 2, 4, 8]\n"
    "  train.accumulation: {from: 1, to: 128, step: 1}\n"
    "  parallel: [{strategy: fsdp2}, {strategy: fsdp2, reshard_after_forward: false}, {strategy: fsdp1},\n"
    "             {strategy: fsdp1, sharding: shard_grad_op}]\n"
    "  activation.checkpoint: [none, full]\n"
    "  model.loss: [{kind: plain}, {kind: chunked, chunks: 8}]\n"
    "  train.sync: [last, every]\n";
constexpr double k_longest = 120;  // seconds of the search of a million

void print(const char* what, std::size_t count, double seconds, double target) {
  const double rate = static_cast<double>(count) / seconds;
  fmt::print("  {:<24} {:10.1f} a second ({:7.3f} ms each)  target {:>7}: {}\n", what, rate, 1e3 / rate,
             target, rate >= target ? "met" : "NOT MET");
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The time of this process alone: others may use the core meanwhile.
double processor_seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Estimates all of a space as large as a search takes: what its parts are read from, and each combination.
void estimates(const std::filesystem::path& folder) {
  std::ofstream(folder / "many.yaml") << k_many;
  const SearchQuestion question = required(read_question(folder / "many.yaml"));
  const SearchSpace space = required(SearchSpace::of(question));
  ResultFile kept;
  Evaluator evaluator(question.base, {}, kept);
  std::size_t bounded = 0;
  const double seconds = processor_seconds_of([&] {
    const EstimateParts parts(space, evaluator, 1);
    for (std::uint64_t i = 0; i < space.size(); ++i) bounded += parts.bounds_of(space.at(i)).step_ns > 0;
  });
  fmt::print("  {} configurations, {} with a bound of time\n", space.size(), bounded);
  print("estimates", space.size(), seconds, 200'000);
}

double seconds_of_simulations(const SearchQuestion& question,
                              const std::vector<Configuration>& configurations, int threads) {
  ResultFile kept;
  Evaluator evaluator(question.base, {}, kept);
  return seconds_of([&] {
    in_parallel(configurations.size(), threads,
                [&](std::size_t i) { required(evaluator.evaluate(configurations[i].settings)); });
  });
}

std::vector<Configuration> all_of(const SearchQuestion& question) {
  const SearchSpace space = required(SearchSpace::of(question));
  std::vector<Configuration> configurations;
  for (std::uint64_t i = 0; i < space.size(); ++i) configurations.push_back(space.at(i));
  return configurations;
}

void long_steps(const std::filesystem::path& folder) {
  std::ofstream(folder / "long.yaml") << k_long_steps;
  const SearchQuestion question = required(read_question(folder / "long.yaml"));
  const std::vector<Configuration> configurations = all_of(question);
  const double busy = processor_seconds_of([&] { seconds_of_simulations(question, configurations, 1); });
  print("of 16..128 micro-batches", configurations.size(), busy, 2'000);
}

void simulations(const std::filesystem::path& folder) {
  std::ofstream(folder / "question.yaml") << k_question;
  const SearchQuestion question = required(read_question(folder / "question.yaml"));
  const std::vector<Configuration> configurations = all_of(question);
  double one = 0;
  const double busy =
      processor_seconds_of([&] { one = seconds_of_simulations(question, configurations, 1); });
  print("simulations", configurations.size(), busy, 2'000);
  const double factor = one / seconds_of_simulations(question, configurations, 2);
  fmt::print("  two threads: {:.2f} times as many  target 1.8: {}\n", factor,
             factor >= 1.8 ? "met" : "NOT MET");
}

void a_million(const std::filesystem::path& folder) {
  std::ofstream(folder / "million.yaml") << k_million;
  const SearchQuestion question = required(read_question(folder / "million.yaml"));
  const SearchSpace space = required(SearchSpace::of(question));
  ResultFile kept;
  Evaluator evaluator(question.base, {}, kept);
  SearchOptions options;
  options.threads = 2;
  options.seconds = k_longest;
  const SearchResult found = required(search(space, evaluator, options));
  const double seconds = found.timing.seconds;
  fmt::print(
      "  search of {} configurations on two threads: {:.1f} s, {} simulated, {} open  target 30 s: {}\n",
      space.size(), seconds, found.space.simulated, found.space.open,
      seconds <= 30 && found.space.open == 0 ? "met" : "NOT MET");
}

}  // namespace
}  // namespace shardlab

int main(int count, char** words) {
  const std::vector<std::string_view> wanted(words + 1, words + count);
  const auto folder = std::filesystem::temp_directory_path() / "shardlab-search-speed";
  std::filesystem::create_directories(folder);
  fmt::print("Llama-3-70B, one thread\n");
  std::ofstream(folder / "scenario.yaml") << shardlab::k_scenario;
  const auto part = [&](std::string_view name, void (*measure)(const std::filesystem::path&)) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) measure(folder);
  };
  part("estimates", shardlab::estimates);
  part("simulations", shardlab::simulations);
  part("long", shardlab::long_steps);
  part("million", shardlab::a_million);
  std::filesystem::remove_all(folder);
}
