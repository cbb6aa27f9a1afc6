#include "engine/model/hub_names.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/folder.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

std::string shipped(std::string_view hub_name) {
  return shipped_model(hub_name).value().value_or("none");
}

TEST_CASE("hub names: the model's own, its variants, in any case") {
  CHECK(shipped("meta-llama/Llama-3.1-70B") == "llama-3.1-70b");
  CHECK(shipped("meta-llama/Llama-3.1-70B-Instruct") == "llama-3.1-70b");
  CHECK(shipped("Qwen/Qwen3-8B") == "qwen3-8b");
  CHECK(shipped("qwen/qwen3-8b-base") == "qwen3-8b");
  CHECK(shipped("meta-llama/Llama-2-7b-hf") == "llama-2-7b");
  CHECK(shipped("mistralai/Mistral-7B-v0.1") == "mistral-7b");
  CHECK(shipped("openai-community/gpt2") == "gpt2");
  CHECK(shipped("google/gemma-2-9b") == "gemma-2-9b");
  CHECK(shipped("Qwen/Qwen3-30B-A3B") == "qwen3-30b-a3b");
  CHECK(shipped("mistralai/Mistral-7B-v0.2") == "none");  // has no window
  CHECK(hub_name_of("llama-3-8b").value() == "meta-llama/Meta-Llama-3-8B");
  CHECK(hub_name_of("qwen/qwen3-8b-base").value() == "Qwen/Qwen3-8B-Base");
  CHECK_FALSE(hub_name_of("tiny-llama").value());
}

TEST_CASE("hub names: a model is found without its owner, as people write it") {
  const auto called = [](std::string_view name) { return model_called(name).value().value_or("none"); };
  CHECK(called("Llama-3-70B") == "llama-3-70b");
  CHECK(called("Llama 3.1 70B") == "llama-3.1-70b");
  CHECK(called("Qwen3-30B-A3B") == "qwen3-30b-a3b");
  CHECK(called("Qwen3-30B-A3B-Instruct-2507") == "qwen3-30b-a3b");
  CHECK(called("Llama-3.3-70B-Instruct") == "llama-3.1-70b");
  CHECK(called("llama-3.3-70b") == "llama-3.1-70b");
  CHECK(called("phi_2") == "phi-2");
  CHECK(called("Llama-3.1-405B") == "none");
  CHECK(called("mistral-7b-v0.2") == "none");
  CHECK(called("") == "none");
}

// The table of the README says which model a file is the shape of.
TEST_CASE("hub names: every shipped model but our own has one, and the README names it") {
  const std::filesystem::path folder = test::source_folder() / "assets/models";
  std::ostringstream readme;
  readme << std::ifstream(folder / "README.md").rdbuf();
  int models = 0;
  const auto listed = paths_in(folder);
  REQUIRE_OK(listed);
  for (const std::filesystem::path& path : *listed) {
    const std::string name = path.filename().string();
    if (!std::filesystem::is_directory(path) || name == "tiny-llama") continue;
    ++models;
    CAPTURE(name);
    const std::optional<std::string> id = hub_name_of(name).value();
    REQUIRE(id);
    CHECK(shipped(*id) == name);
    CHECK_THAT(readme.str(), test::contains_text("| `" + name + "` | " + *id));
  }
  CHECK(models > 30);
}

TEST_CASE("hub names: only what has their form, and the nearest of an unknown one") {
  CHECK(may_be_hub_name("Qwen/Qwen3-14B"));
  for (const char* path : {"gpt2", "./gpt2", "/gpt2", "a/b/c", "a/config.json", "models/", "my models/a"})
    CHECK_FALSE(may_be_hub_name(path));
  CHECK_THAT(hint_for_hub_name("Qwen/Qwen3-9B"),
             test::contains_text(
                 "the nearest that ships is Qwen/Qwen3-8B (qwen3-8b); for this one give the folder"));
  CHECK_THAT(hint_for_hub_name("meta-llama/Llama-3-8B"), test::contains_text("(llama-3-8b)"));
  CHECK_THAT(hint_for_hub_name("google/gemma-3-27b-it"), test::contains_text("google/gemma-2"));
  CHECK_THAT(hint_for_hub_name("deepseek-ai/DeepSeek-V3"), test::contains_text("`shardlab models` lists"));
}

}  // namespace
}  // namespace shardlab
