#include "engine/report/setting_differences.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr const char* k_first = R"(name: one
model: {config: tiny-llama, sequence_length: 64}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, accumulation: 1}
)";

}  // namespace

TEST_CASE("two scenarios differ in what either says, a default counts as said") {
  constexpr const char* k_second = R"(name: another
model: {config: tiny-llama, sequence_length: 64}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: ddp}
train: {micro_batch: 2, clip_norm: 1.0}
)";
  const auto found = setting_differences({k_first, "one.yaml"}, {k_second, "another.yaml"}).value();
  REQUIRE(found.size() == 2);
  CHECK(found[0].key == "parallel.strategy");
  CHECK(found[0].first == "fsdp2");
  CHECK(found[0].second == "ddp");
  CHECK(found[1].key == "train.clip_norm");
  CHECK(found[1].second == "1");
}

TEST_CASE("what is no scenario differs in nothing that is known") {
  CHECK(setting_differences({k_first, "one"}, {"", "trace"}).value().empty());
  CHECK(setting_differences({k_first, "one"}, {k_first, "other"}).value().empty());
}

}  // namespace shardlab
