// tests/data/scenario/errors: each file with the exact message it must give.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <vector>

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string error_of(std::string_view yaml, const std::vector<std::string>& sets = {}) {
  const auto read = parse_scenario(yaml, "a.yaml", sets);
  if (read) return "no error";
  CHECK(read.error().kind == ErrorKind::bad_input);
  return to_string(read.error());
}

TEST_CASE("scenario: wrong files give the expected message") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test::data_file("scenario/errors"))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 60);
  for (const fs::path& file : files) {
    INFO(file);
    const auto read = parse_scenario(text_of(file), file.filename().string());
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().kind == ErrorKind::bad_input);
    CHECK(to_string(read.error()) + "\n" == text_of(fs::path(file).replace_extension(".expected")));
  }
}

TEST_CASE("scenario: what is no scenario file at all") {
  test::TemporaryFolder folder;
  const auto error = [](const fs::path& file) {
    const auto read = read_scenario(file);
    return read ? std::string("no error") : to_string(read.error());
  };
  CHECK(error(folder.path() / "absent.yaml") == (folder.path() / "absent.yaml").string() + ": no such file");
  CHECK_THAT(error(folder.path()), test::contains_text("is a folder, not a scenario file"));
  CHECK_THAT(error("/dev/zero"), test::contains_text("is a device, not a scenario file"));
}

TEST_CASE("scenario: garbage ends quickly with one message") {
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(error_of(std::string(1 << 20, 'x')), test::contains_text("larger than 256 KiB"));
  for (const std::string piece : {"[", "{", "- ", "? ", "a: ", "&a ", "!", "*", "'", "\"", "|\n", "%",
                                  "a:\n ", "[a, ", "{a: ", ": ", "\n\n#", "--- ", "x\n"}) {
    std::string text;
    while (text.size() < 200'000) text += piece;
    INFO(piece);
    CHECK(error_of(text) != "no error");
  }
  // Many keys of one map, each a different one.
  std::string keys;
  for (int i = 0; keys.size() < 200'000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  CHECK_THAT(error_of(keys), test::contains_text("more"));
  // Generous: sanitizers and busy machines are slow, quadratic parsing would take minutes.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}

TEST_CASE("scenario: every truncation of a good file is either good or one message") {
  const std::string text = text_of(test::data_file("scenario/good/everything.yaml"));
  for (std::size_t length = 0; length < text.size(); length += 7) {
    const auto read = parse_scenario_with_source(text.substr(0, length), "a.yaml");
    if (read) continue;
    CHECK(read.error().kind == ErrorKind::bad_input);
    CHECK(to_string(read.error()).substr(0, 6) == "a.yaml");
  }
}

TEST_CASE("scenario: at most ten mistakes are shown") {
  std::string text = "train: {";
  for (int i = 0; i < 14; ++i) text += "wrong" + std::to_string(i) + ": 1, ";
  const std::string error = error_of(text + "}");
  CHECK(std::count(error.begin(), error.end(), '\n') == 10);
  CHECK_THAT(error, test::contains_text("and 4 more"));
}

}  // namespace
}  // namespace shardlab
