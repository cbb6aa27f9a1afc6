#include "engine/model/model_config.h"

#include <string>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("a configuration that is nested without end is refused, in the file and as an override") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const auto config = ModelConfig::parse("{\"hidden_size\": " + deep + "}", "config.json", {});
  REQUIRE_FALSE(config);
  CHECK(to_string(config.error()) == "config.json: lists and objects are nested too deeply");
  const auto overridden = ModelConfig::parse("{}", "config.json", {{"hidden_size", deep}});
  REQUIRE_OK(overridden);
  CHECK_FALSE(overridden->integer("hidden_size"));
}

}  // namespace
}  // namespace shardlab
