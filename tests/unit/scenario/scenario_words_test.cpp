// Each table of words of a scenario names every value once, and no word twice.
#include <set>

#include "engine/scenario/keys/kind.h"
#include "engine/scenario/scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

template <WordEnum E>
void check_table() {
  std::set<std::string_view> texts;
  std::set<E> values;
  for (const Word<E>& word : k_words<E>) {
    texts.insert(word.text);
    values.insert(word.value);
    CHECK(parse_word<E>(to_string(word.value)) == word.value);
  }
  CHECK(texts.size() == k_words<E>.size());
  CHECK(values.size() == k_words<E>.size());
  // Enumerators count from 0: none of those between lacks a word.
  CHECK(static_cast<std::size_t>(*values.rbegin()) + 1 == values.size());
}

template <WordEnum... E>
void check_tables() {
  (check_table<E>(), ...);
}

TEST_CASE("the tables of words are complete") {
  check_tables<Implementation, LossChunks, LossKind, AttentionKind, CompileScope, Fp8Scaling, Quantization,
               MoeLoadKind>();
  check_tables<WrapPolicyKind, SizeRule, Fsdp1Sharding, BackwardPrefetch, Initialization, OffloadTarget>();
  check_tables<ActivationCheckpoint, CheckpointPlacement, GradientSync, Optimizer, OptimizerImplementation,
               ScheduleKind, DataOrder>();
  check_tables<DeviceKind, IntraNodeLink, CheckpointType, CommunicationBackend, Launcher, MeasureDetail,
               Objective>();
}

TEST_CASE("a key's kind takes its words from the table") {
  const Kind<Optimizer> kind = kind::word<Optimizer>();
  CHECK(kind.type == "word");
  CHECK(kind.values.text == "adamw, adam, sgd, adamw_8bit, adafactor");
  CHECK(kind.values.words == all_words<Optimizer>());
  CHECK(kind.read(yaml_scalar("sgd"), "optimizer").value() == Optimizer::sgd);
  CHECK(kind.write(Optimizer::adamw_8bit).text == "adamw_8bit");
  const auto wrong = kind.read(yaml_scalar("adamv"), "optimizer");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().what == "unknown optimizer 'adamv'");
  CHECK(wrong.error().hint == "did you mean 'adamw'?");
}

TEST_CASE("a key may know some words of a table only") {
  const Kind<std::optional<DeviceKind>> kind = kind::word_or_absent({DeviceKind::cpu});
  CHECK(kind.values.text == "cpu");
  CHECK(kind.read(yaml_scalar("cpu"), "device").value() == DeviceKind::cpu);
  CHECK_FALSE(kind.read(yaml_scalar("gpu"), "device"));
  CHECK_FALSE(kind.read(YamlNode(), "device"));
  CHECK_FALSE(kind.read(yaml_scalar("none"), "device"));
  CHECK(kind.write(std::nullopt).is_null());
}

}  // namespace
}  // namespace shardlab
