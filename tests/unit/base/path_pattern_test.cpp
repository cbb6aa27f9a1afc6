// Patterns over dotted paths, against a matcher that tries everything.
#include "engine/base/path_pattern.h"

#include <random>
#include <string>

#include "tests/catch.h"

namespace shardlab::test {
namespace {

// The definition, without any thought of speed.
bool matches_by_trying(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == '*') {
    const bool crosses_dots = pattern.starts_with("**");
    const std::string_view rest = pattern.substr(crosses_dots ? 2 : 1);
    for (std::size_t taken = 0; taken <= path.size(); ++taken) {
      if (taken > 0 && path[taken - 1] == '.' && !crosses_dots) return false;
      if (matches_by_trying(rest, path.substr(taken))) return true;
    }
    return false;
  }
  const bool fits = !path.empty() && (pattern[0] == path[0] || (pattern[0] == '?' && path[0] != '.'));
  return fits && matches_by_trying(pattern.substr(1), path.substr(1));
}

std::string random_text(std::mt19937& random, std::string_view letters, std::size_t most) {
  std::string text;
  for (std::size_t length = random() % (most + 1); length > 0; --length)
    text += letters[random() % letters.size()];
  return text;
}

}  // namespace

TEST_CASE("a star stays inside a name, two stars cross dots") {
  CHECK(matches_path("model.layers.*", "model.layers.11"));
  CHECK_FALSE(matches_path("model.layers.*", "model.layers.11.mlp"));
  CHECK_FALSE(matches_path("model.layers.*", "model.layers"));
  CHECK(matches_path("model.layers.**", "model.layers.11.mlp"));
  CHECK(matches_path("**.bias", "model.layers.0.self_attn.q_proj.bias"));
  CHECK_FALSE(matches_path("*.bias", "model.layers.0.self_attn.q_proj.bias"));
  CHECK(matches_path("model.layers.?.mlp", "model.layers.3.mlp"));
  CHECK_FALSE(matches_path("model.layers.?.mlp", "model.layers.13.mlp"));
  CHECK(matches_path("**", ""));
  CHECK(matches_path("", ""));
  CHECK_FALSE(matches_path("", "model"));
}

TEST_CASE("patterns match what their definition says") {
  std::mt19937 random(7);
  int matched = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = random_text(random, "ab.**?", 7);
    const std::string path = random_text(random, "ab.", 7);
    INFO("'" << pattern << "' on '" << path << "'");
    const bool expected = matches_by_trying(pattern, path);
    matched += expected ? 1 : 0;
    REQUIRE(matches_path(pattern, path) == expected);
  }
  CHECK(matched > 500);  // the random pairs say something
}

}  // namespace shardlab::test
