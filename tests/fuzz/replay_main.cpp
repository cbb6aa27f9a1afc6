// Reads every input of the repository once: no libFuzzer, any compiler.
//
//   shardlab_fuzz_replay TARGET             reads all its inputs, and some that are nested deeply
//   shardlab_fuzz_replay TARGET FILE...     reads these
//   SHARDLAB_SHOW=1                         prints why inputs are refused
//   shardlab_fuzz_replay --list             names of the targets
//   shardlab_fuzz_replay --seeds TARGET FOLDER    writes its inputs and the dictionary `words` there
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/fuzz/deep_inputs.h"
#include "tests/fuzz/seeds.h"
#include "tests/paths.h"

namespace shardlab::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double k_slow_seconds = 10;  // that no input of some kilobytes is worth

std::string_view word_of(Answer answer) {
  return answer == Answer::taken ? "taken" : "refused";
}

bool is_as_expected(Answer answer, SeedPlace::Verdict verdict) {
  if (verdict == SeedPlace::Verdict::any) return true;
  return (answer == Answer::taken) == (verdict == SeedPlace::Verdict::taken);
}

// The name stands there before the input is read: a crash ends the program behind it.
bool replay_seed(const FuzzTarget& target, const Seed& seed) {
  fmt::print("{} ({} bytes): ", seed.source, seed.bytes.size());
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  const Answer answer = target.read(seed.bytes);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool expected = is_as_expected(answer, seed.verdict), quick = seconds < k_slow_seconds;
  fmt::print("{}{}{}\n", word_of(answer), expected ? "" : ", WHICH IS WRONG",
             quick ? "" : fmt::format(", TOO SLOW: {:.0f} s", seconds));
  return expected && quick;
}

int replay_all(const FuzzTarget& target, const std::vector<Seed>& seeds) {
  std::size_t failed = 0;
  for (const Seed& seed : seeds) failed += replay_seed(target, seed) ? 0 : 1;
  fmt::print("{}: {} inputs, {} failed\n", target.name, seeds.size(), failed);
  return failed == 0 && !seeds.empty() ? 0 : 1;
}

int write_seeds(const FuzzTarget& target, const fs::path& folder) {
  const std::vector<Seed> seeds = seeds_of(target, test::source_folder());
  fs::create_directories(folder / "inputs");
  const auto write = [](const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (std::size_t i = 0; i < seeds.size(); ++i)
    if (seeds[i].bytes.size() <= target.longest)
      write(folder / "inputs" / fmt::format("seed-{}", i), seeds[i].bytes);
  write(folder / "words", dictionary_of(seeds));
  write(folder / "longest", std::to_string(target.longest));
  write(folder / "reads", std::string(target.reads));
  return 0;
}

std::vector<Seed> seeds_in(const std::vector<std::string>& files) {
  std::vector<Seed> seeds;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("cannot be read: " + file);
    seeds.push_back({file, std::string(std::istreambuf_iterator<char>(stream), {}), SeedPlace::Verdict::any});
  }
  return seeds;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0] == "--list") {
    for (const FuzzTarget& target : all_targets()) fmt::print("{}\n", target.name);
    return 0;
  }
  const bool exports = arguments.size() == 3 && arguments[0] == "--seeds";
  const std::string name = exports ? arguments[1] : arguments.empty() ? "" : arguments[0];
  const FuzzTarget* const target = find_target(name);
  if (target == nullptr) {
    fmt::print(stderr, "no target is called '{}'; --list names them\n", name);
    return 2;
  }
  if (exports) return write_seeds(*target, arguments[2]);
  const std::vector<std::string> files(arguments.begin() + 1, arguments.end());
  if (!files.empty()) return replay_all(*target, seeds_in(files));
  std::vector<Seed> seeds = seeds_of(*target, test::source_folder());
  for (Seed& deep : deep_inputs(seeds)) seeds.push_back(std::move(deep));
  return replay_all(*target, seeds);
}

}  // namespace
}  // namespace shardlab::fuzz

int main(int argc, char** argv) {
  try {
    return shardlab::fuzz::run({argv + 1, argv + argc});
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}\n", exception.what());
    return 1;
  }
}
