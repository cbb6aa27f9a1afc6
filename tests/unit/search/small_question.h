// Small search files for tests, and what a search of them finds.
#pragma once

#include <fstream>
#include <string>

#include "simulator/search/question/read_question.h"
#include "simulator/search/search.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {

// GPT-2 with two small layers on H100 nodes: a prediction takes a few milliseconds.
inline constexpr const char* k_small_gpt =
    "model: {config: gpt2, sequence_length: 64, overrides: {n_layer: 2, n_embd: 64, n_head: 2, vocab_size: "
    "512}}\n"
    "cluster: {node: hgx-h100, nodes: 1}\n"
    "parallel: {strategy: fsdp2}\n"
    "train: {micro_batch: 2, accumulation: 2}\n";

// A teacher twice as deep, which every rank holds whole where nothing is said.
inline constexpr const char* k_small_distillation =
    "model: {config: gpt2, sequence_length: 64, overrides: {n_layer: 2, n_embd: 64, n_head: 2, vocab_size: "
    "512}}\n"
    "distillation: {teacher: {config: gpt2, overrides: {n_layer: 4, n_embd: 64, n_head: 2, vocab_size: "
    "512}}}\n"
    "cluster: {node: hgx-h100, nodes: 1}\n"
    "parallel: {strategy: fsdp2}\n"
    "train: {micro_batch: 2, accumulation: 2}\n";

class SearchFolder {
 public:
  explicit SearchFolder(const std::string& scenario = k_small_gpt) { write("s.yaml", scenario); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / name;
    std::ofstream(file) << text;
    return file;
  }
  // `text` names a scenario of this folder.
  Result<SearchQuestion> whole(const std::string& text) const { return read_question(write("q.yaml", text)); }
  // `text` without the line that names the scenario.
  Result<SearchQuestion> question(const std::string& text) const {
    return whole("scenario: s.yaml\n" + text);
  }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

inline Result<SearchResult> search_of(const SearchQuestion& question, const SearchOptions& options,
                                      ResultFile& kept) {
  SHARDLAB_TRY(const SearchSpace space, SearchSpace::of(question));
  Evaluator evaluator(question.base, {}, kept);
  return search(space, evaluator, options);
}

// splitmix64: the same numbers on every machine, which std's distributions do not promise.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

}  // namespace shardlab::test
