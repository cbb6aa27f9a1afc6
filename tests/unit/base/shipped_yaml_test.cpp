#include "engine/base/shipped_yaml.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

std::string text_at(const YamlNode& root, std::string_view key) {
  const YamlNode* const node = root.find(key);
  return node != nullptr ? node->text : "";
}

TEST_CASE("a shipped file is parsed once, and again when it has changed") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "figures.yaml";
  std::ofstream(file) << "a: 1\n";
  const auto first = read_shipped_yaml(file);
  REQUIRE_OK(first);
  CHECK(text_at(**first, "a") == "1");
  CHECK(read_shipped_yaml(file)->get() == first->get());
  std::ofstream(file) << "a: 23\n";
  const auto second = read_shipped_yaml(file);
  REQUIRE_OK(second);
  CHECK(text_at(**second, "a") == "23");
  CHECK(text_at(**first, "a") == "1");  // who holds the old one keeps it
  std::filesystem::remove(file);
  CHECK(read_shipped_yaml(file).error().kind == ErrorKind::bad_input);
}

TEST_CASE("a shipped file that is no YAML is refused with its place, each time") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "broken.yaml";
  std::ofstream(file) << "a: [1\n";
  for (int i = 0; i < 2; ++i) {
    const auto read = read_shipped_yaml(file);
    REQUIRE(!read);
    CHECK(read.error().place.file == file.string());
  }
}

TEST_CASE("threads may read a shipped file at once") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "figures.yaml";
  std::ofstream(file) << "a: 1\n";
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        const auto read = read_shipped_yaml(file);
        good += read && text_at(**read, "a") == "1";
      }
    });
  }
  threads.clear();
  CHECK(good == 800);
}

}  // namespace
}  // namespace shardlab
