// Every kind of value, once, against the struct.
#include <fstream>
#include <iterator>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Scenario read_good(const std::string& name) {
  const auto read = parse_scenario_with_source(text_of(test::data_file("scenario/good/" + name)), name);
  REQUIRE_OK(read);
  return read->scenario;
}

TEST_CASE("scenario: every key of the model and the cluster") {
  const Scenario s = read_good("everything.yaml");
  CHECK(s.name == "everything");
  CHECK(s.description == "text: with a colon, and \"quotes\"");
  CHECK(s.tags == std::vector<std::string>{"a", "b c"});
  CHECK(s.model->config == "llama-3-8b");
  CHECK(s.model->dtype == DType::bfloat16);
  CHECK(s.model->sequence_length == 8192);
  CHECK(s.model->loss == LossSpec{LossKind::chunked, 8});
  CHECK(s.model->dropout == 0.1);
  CHECK(s.model->overrides.at("num_hidden_layers") == "10");
  CHECK(s.model->overrides.at("rope_scaling") == "null");
  CHECK(s.model->overrides.at("hidden_act") == "\"silu\"");
  CHECK(s.model->overrides.at("tie_word_embeddings") == "true");
  CHECK(s.model->overrides.at("list") == "[1,2.5,\"3\"]");
  CHECK(s.model->frozen == std::vector<std::string>{"model.embed_tokens.*"});
  CHECK(s.model->lora == LoraSpec{8, 16, 0.05, {"q_proj", "v_proj"}, {}});
  CHECK(s.model->moe == MoeSpec{{MoeLoadKind::listed, {0.5, 0.25, 0.25}}, "", 1.25, 0.01});
  CHECK(s.cluster->nodes == 4);
  CHECK(s.cluster->inter_node_gbps_per_gpu == 400.0);
  CHECK(s.cluster->host == HostSpec{96, Bytes{std::int64_t{2} << 40}, 5});
  CHECK(s.cluster->allocator_conf == "expandable_segments:True");
  CHECK(s.cluster->memory_limit == Bytes{75'698'798'592});  // 70.5 x 2^30
  CHECK(s.cluster->nvme == NvmeSpec{"/scratch", BytesPerSecond{3.5e9}, BytesPerSecond{2e9}});
  CHECK(world_size(s) == 32);
  CHECK(resolve_mesh(s) == ResolvedMesh{2, 8, 2, 1});
}

TEST_CASE("scenario: every key of parallel, precision, activation and offload") {
  const Scenario s = read_good("everything.yaml");
  CHECK(s.parallel->reshard_after_forward == ReshardAfterForward{ReshardKind::to_ranks, 4});
  CHECK_FALSE(s.parallel->reshard_after_backward);
  CHECK_FALSE(s.parallel->requires_all_reduce);
  REQUIRE(s.parallel->wrap.any.size() == 3);
  CHECK(s.parallel->wrap.any[0].classes == std::vector<std::string>{"LlamaDecoderLayer"});
  CHECK(s.parallel->wrap.any[1].min_params == 100'000'000);
  CHECK(s.parallel->wrap.any[2].match.at(0) == WrapMatch{"*.mlp", "LlamaMLP", 1'000'000, 1'000'000'000});
  CHECK(s.parallel->wrap.overrides.at(0).settings.at("precision.param") == "float32");
  CHECK(s.parallel->prefetch.backward_depth == 2);
  CHECK(s.precision->param == DType::bfloat16);
  CHECK(s.precision->cast_forward_inputs == false);
  CHECK_FALSE(s.precision->autocast.has_value());
  CHECK(*s.scaler == ScalerSpec{true, 65536, 2, 0.5, 1000, true, {}, false, 1});
  CHECK(s.activation->operators == std::vector<std::string>{"matmul", "attention"});
  CHECK(*s.offload ==
        OffloadSpec{
            OffloadTarget::nvme, OffloadTarget::none, false, 0.5, 4, true, true, {mebibytes(2), 32, 4}});
}

TEST_CASE("scenario: every key of train and of a run") {
  const Scenario s = read_good("everything.yaml");
  CHECK(s.train->learning_rate == 3e-4);
  CHECK(s.train->betas == std::array<double, 2>{0.9, 0.95});
  CHECK(s.train->schedule == ScheduleSpec{ScheduleKind::cosine, 100, 1000});
  CHECK(s.train->clip_norm == 1.0);
  CHECK(s.train->data == std::vector<std::string>{"a.bin", "b.bin"});
  CHECK(s.train->save == SaveSpec{500, 2});
  CHECK(*s.checkpoint ==
        CheckpointSpec{CheckpointType::sharded, "/checkpoints", true, false, "/checkpoints/last"});
  CHECK(s.launch->timeout == Nanoseconds{300'000'000'000});
  CHECK(s.launch->environment == std::map<std::string, std::string>{{"EMPTY", ""}, {"NCCL_DEBUG", "INFO"}});
  CHECK(s.measure->tolerance == std::map<std::string, double>{{"peak_allocated", 0.02}, {"step_time", 0.15}});
  CHECK(*s.limits ==
        LimitsSpec{Bytes{80'000'000'000}, Nanoseconds{1'500'000'000}, 100, 64, Objective::price});
}

TEST_CASE("scenario: a teacher, and a node by its name alone") {
  const Scenario s = read_good("distillation.yaml");
  CHECK(s.name == "distillation");  // the file's
  REQUIRE(s.distillation);
  const TeacherSpec& teacher = s.distillation->teacher;
  CHECK(teacher.model->config == "llama-3-8b");
  CHECK(teacher.model->dtype == DType::bfloat16);
  CHECK(teacher.parallel->strategy == "fsdp2");
  CHECK(teacher.parallel->reshard_after_forward.kind == ReshardKind::always);
  CHECK(teacher.precision->param == DType::bfloat16);
  CHECK(s.distillation->temperature == 2);
  CHECK(s.distillation->weight == 0.9);
  CHECK(s.parallel->ddp.bucket_size == mebibytes(50));
  CHECK(s.cluster->node == "hgx-h200");
  CHECK(s.cluster->gpus_per_node == 8);  // completed from the node
}

TEST_CASE("scenario: DeepSpeed's own keys, and part of a node") {
  const Scenario s = read_good("zero.yaml");
  CHECK(s.parallel->zero.at("reduce_bucket_size") == "500000000");
  CHECK(s.parallel->zero.at("leaf_module") == R"({"classes":["X"]})");
  CHECK(world_size(s) == 8);
  CHECK(resolve_mesh(s) == ResolvedMesh{1, 8, 1, 1});
}

}  // namespace
}  // namespace shardlab
