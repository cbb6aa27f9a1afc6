#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/keys/kind.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/train_words.h"
#include "tests/catch.h"
#include "tests/word_tables.h"

namespace shardlab {
namespace {

TEST_CASE("the tables of a scenario's words are complete") {
  test::check_tables<Implementation, LossChunks, LossKind, AttentionKind, CompileScope, Fp8Scaling,
                     Quantization, MoeLoadKind>();
  test::check_tables<WrapPolicyKind, SizeRule, ReshardKind, Fsdp1Sharding, BackwardPrefetch, Initialization,
                     OffloadTarget>();
  test::check_tables<ActivationCheckpoint, CheckpointPlacement, GradientSync, Optimizer,
                     OptimizerImplementation, ScheduleKind, DataOrder>();
  test::check_tables<DeviceKind, IntraNodeLink, CheckpointType, CommunicationBackend, Launcher, MeasureDetail,
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
