// Runs the command line over damaged files, thousands in one process.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "engine/cli/command_line.h"
#include "tests/mutated/mutations.h"
#include "tests/mutated/specimens.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned k_hangs = 120;  // seconds after which a case ends the program
constexpr double k_slow = 20;      // seconds that no damaged file of some kilobytes is worth

// What commands print goes nowhere; what is said here, to the terminal.
class Quiet {
 public:
  Quiet() : out_(fdopen(dup(STDOUT_FILENO), "w")) {
    if (out_ == nullptr || freopen("/dev/null", "w", stdout) == nullptr) std::abort();
    if (std::getenv("SHARDLAB_SHOW") == nullptr && freopen("/dev/null", "w", stderr) == nullptr) std::abort();
  }
  void say(const std::string& line) const {
    std::fputs((line + "\n").c_str(), out_);
    std::fflush(out_);
  }

 private:
  std::FILE* out_;
};

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

struct Judged {
  int code = 0;
  double seconds = 0;
  bool good() const { return code >= 0 && code <= 4 && seconds < k_slow; }
};

Judged judge(const Kind& kind, const fs::path& file, bool json) {
  std::vector<std::string> arguments = kind.arguments;
  std::replace(arguments.begin(), arguments.end(), std::string("FILE"), file.string());
  if (json) arguments.emplace_back("--json");
  alarm(k_hangs);
  const auto begin = std::chrono::steady_clock::now();
  Judged judged;
  judged.code = run_command_line(arguments);
  judged.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  alarm(0);
  return judged;
}

// What is not damaged must be read: else nothing behind the first check would ever be reached.
bool are_sound(const std::vector<Kind>& kinds, const fs::path& folder, const Quiet& quiet) {
  bool sound = true;
  for (const Kind& kind : kinds)
    for (std::size_t i = 0; i < kind.texts.size(); ++i) {
      const fs::path file = folder / ("sound" + kind.ending);
      write(file, kind.texts[i]);
      const int code = judge(kind, file, false).code;
      if (code <= 1) continue;
      sound = false;
      quiet.say(fmt::format("specimen {} of {}: exit code {}", i, kind.name, code));
    }
  return sound;
}

int run(std::size_t count, std::uint64_t seed, const std::string& only, const std::vector<Kind>& kinds,
        const fs::path& folder, const Quiet& quiet) {
  std::vector<Kind> chosen;
  for (const Kind& kind : kinds)
    if (only.empty() || kind.name == only) chosen.push_back(kind);
  if (chosen.empty()) return quiet.say("no kind is called " + only), 2;
  std::mt19937_64 engine(seed);
  std::size_t failed = 0, refused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Kind& kind = chosen[i % chosen.size()];
    const std::string text = mutated(kind.texts[engine() % kind.texts.size()], kind.texts, engine);
    // In the current folder: what ends the program leaves its cause behind.
    const fs::path file = folder / ("damaged" + kind.ending);
    write(file, text);
    const Judged judged = judge(kind, file, engine() % 2 == 0);
    if (judged.code >= 2) ++refused;
    if (judged.good()) continue;
    ++failed;
    const std::string kept = fmt::format("mutated-{}-{}-{}{}", kind.name, seed, i, kind.ending);
    write(kept, text);
    quiet.say(fmt::format("FAILED {}: exit code {} after {:.1f} s; kept as {}", kind.name, judged.code,
                          judged.seconds, kept));
  }
  quiet.say(fmt::format("{} damaged files of {} kinds, seed {}: {} refused, {} failed", count, chosen.size(),
                        seed, refused, failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace shardlab::test

int main(int argc, char** argv) {
  namespace test = shardlab::test;
  const test::Quiet quiet;
  const std::filesystem::path folder = std::filesystem::current_path() / "mutated";
  std::filesystem::create_directories(folder);
  const std::filesystem::path database = folder / "sound.db";
  std::filesystem::remove(database);
  const auto scenario = test::source_folder() / "scenarios/first/tiny-llama.yaml";
  if (shardlab::run_command_line({"simulate", scenario.string(), "--db", database.string(), "--quiet"}) != 0)
    return quiet.say("the specimen of a database could not be made"), 1;
  const std::vector<test::Kind> kinds = test::specimens(test::source_folder(), folder);
  if (argc == 4 && std::string(argv[1]) == "--file") {
    for (const test::Kind& kind : kinds)
      if (kind.name == argv[3]) return test::judge(kind, argv[2], false).code;
    return 2;
  }
  if (!test::are_sound(kinds, folder, quiet)) return 1;
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return test::run(count, seed, argc > 3 ? argv[3] : "", kinds, folder, quiet);
}
