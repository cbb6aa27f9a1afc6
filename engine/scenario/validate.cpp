#include "engine/scenario/validate.h"

#include <fmt/core.h>

#include "engine/base/parse.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/problems.h"

namespace shardlab {
namespace {

class Validation {
 public:
  Validation(const Scenario& scenario, const ScenarioSource& source) : scenario_(scenario), source_(source) {}

  Status run() {
    check_section(scenario_keys(), scenario_, {}, source_, problems_);
    check_models();
    check_cluster();
    if (problems_.empty()) check_mesh();  // needs a number of ranks
    check_parallel("parallel", scenario_.parallel);
    check_train();
    check_rest();
    return problems_.status();
  }

 private:
  void refuse(const std::string& key, const std::string& what, const std::string& hint = {}) {
    problems_.add(source_.where(key), key + ": " + what, hint);
  }
  void require(bool given, const std::string& key, const std::string& hint = {}) {
    if (!given) refuse(key, "is required", hint);
  }

  void check_model(const std::string& path, const ModelSpec& model) {
    require(!model.config.empty(), path + ".config", "a name in assets/models or the path of a config.json");
    require(model.sequence_length > 0, path + ".sequence_length");
    if (model.loss.kind == "chunked" && model.loss.chunks < 2) refuse(path + ".loss.chunks", "a chunked loss needs 2 chunks or more");
    const bool lora_without_rank = model.lora.rank == 0 && model.lora != LoraSpec{};
    require(!lora_without_rank, path + ".lora.rank");
    require(model.lora.rank == 0 || !model.lora.targets.empty(), path + ".lora.targets");
    if (model.quantized != "none" && model.lora.rank == 0) {
      refuse(path + ".quantized", "quantized weights are frozen, nothing would be trained", "add lora");
    }
  }

  void check_models() {
    if (scenario_.models.empty()) {
      check_model("model", scenario_.model);
      if (scenario_.distillation) refuse("distillation", "needs `models` with a teacher and a student");
      return;
    }
    if (scenario_.model != ModelSpec{}) refuse("models", "contradicts `model`", "give one of the two");
    for (const auto& [name, model] : scenario_.models) {
      check_model("models." + name, model.model);
      check_parallel("models." + name + ".parallel", model.parallel);
    }
    if (!scenario_.distillation) {
      refuse("models", "several models are trained by `distillation` only, which is not given");
      return;
    }
    const DistillationSpec& distillation = *scenario_.distillation;
    for (const auto& [key, name] : {std::pair{"distillation.teacher", distillation.teacher}, {"distillation.student", distillation.student}}) {
      require(!name.empty(), key);
      if (!name.empty() && scenario_.models.count(name) == 0) refuse(key, fmt::format("no '{}' among the models", name));
    }
    if (distillation.teacher == distillation.student) refuse("distillation.student", "is the teacher");
  }

  // Keys of one form of cluster beside another form.
  void exclude(const char* form, std::initializer_list<std::pair<const char*, bool>> given) {
    for (const auto& [key, is_given] : given) {
      if (is_given) refuse(fmt::format("cluster.{}", key), fmt::format("has no effect with cluster.{}", form), "remove one of the two");
    }
  }

  void check_cluster() {
    const ClusterSpec& cluster = scenario_.cluster;
    const ClusterSpec defaults;
    const bool host = cluster.host != defaults.host, network = cluster.inter_node_gbps_per_gpu.has_value();
    if (cluster.device == "cpu") {
      exclude("device", {{"node", !cluster.node.empty()}, {"nodes", cluster.nodes != 1}, {"gpu", !cluster.gpu.empty()},
                         {"gpus_per_node", cluster.gpus_per_node != 0}, {"intra_node_link", !cluster.intra_node_link.empty()},
                         {"inter_node_gbps_per_gpu", network}, {"allocator.conf", !cluster.allocator_conf.empty()}});
      require(cluster.ranks > 0, "cluster.ranks", "the number of processes");
      return;
    }
    const char* const form = cluster.node.empty() ? "gpu" : "node";
    if (!cluster.node.empty()) {
      exclude("node", {{"gpu", !cluster.gpu.empty()}, {"intra_node_link", !cluster.intra_node_link.empty()},
                       {"inter_node_gbps_per_gpu", network}, {"host", host}});
    } else if (!cluster.gpu.empty()) {
      require(cluster.gpus_per_node > 0, "cluster.gpus_per_node");
      if (cluster.nodes > 1) require(network, "cluster.inter_node_gbps_per_gpu", "the network between the nodes");
    } else {
      refuse("cluster", "is required", "{device: cpu, ranks: 2}, {node: hgx-h100, nodes: 1} or {gpu: H100-SXM, gpus_per_node: 8}");
    }
    exclude(form, {{"ranks", cluster.ranks != 0}, {"threads_per_rank", cluster.threads_per_rank != 1}});
  }

  void check_mesh() {
    const int ranks = world_size(scenario_);
    const std::string& strategy = scenario_.parallel.strategy;
    const std::string key = source_.given("parallel.mesh") ? "parallel.mesh" : "parallel.strategy";
    if (strategy == "none" && ranks != 1) {
      refuse("parallel.strategy", fmt::format("none trains on one rank, the cluster has {}", ranks), "use ddp or fsdp2");
      return;
    }
    const MeshSpec& given = scenario_.parallel.mesh;
    if (strategy == "ddp" && given.shard > 1) refuse("parallel.mesh.shard", "ddp shards nothing", "remove it, or use fsdp2");
    const ResolvedMesh mesh = resolve_mesh(scenario_);
    // In 64 bits: each dimension may be a million.
    const std::int64_t product = std::int64_t{mesh.replicate} * mesh.shard;
    const std::int64_t rest = std::int64_t{mesh.tensor} * mesh.expert;
    if (product > ranks || rest > ranks || product * rest != ranks) {
      refuse(key, fmt::format("impossible mesh: replicate {} x shard {} x tensor {} x expert {} is not the cluster's {} rank{}", mesh.replicate,
                              mesh.shard, mesh.tensor, mesh.expert, ranks, ranks == 1 ? "" : "s"));
      return;
    }
    const auto group = parse_integer(scenario_.parallel.reshard_after_forward);
    if (group && (*group >= mesh.shard || mesh.shard % *group != 0)) {
      refuse("parallel.reshard_after_forward", fmt::format("{} is not a proper divisor of the {} sharding ranks", *group, mesh.shard));
    }
    const bool hybrid = scenario_.parallel.sharding.starts_with("hybrid");
    if (hybrid && mesh.replicate == 1) refuse("parallel.sharding", "hybrid sharding needs mesh.replicate above 1");
  }

  void check_parallel(const std::string& path, const ParallelSpec& parallel) {
    const PrefetchSpec& prefetch = parallel.prefetch;
    const PrefetchSpec defaults;
    const auto no_effect = [&](const char* key, bool differs) {
      if (differs) refuse(path + ".prefetch." + key, "has no effect with strategy " + parallel.strategy, "remove it");
    };
    if (parallel.strategy == "fsdp2") {
      no_effect("backward", prefetch.backward != defaults.backward);
      no_effect("forward", prefetch.forward != defaults.forward);
      no_effect("limit_all_gathers", prefetch.limit_all_gathers != defaults.limit_all_gathers);
    } else if (parallel.strategy == "fsdp1") {
      no_effect("forward_depth", prefetch.forward_depth != 0);
      no_effect("backward_depth", prefetch.backward_depth != 0);
    }
    check_wrap(path + ".wrap", parallel.wrap);
  }

  void check_wrap(const std::string& path, const WrapSpec& wrap) {
    if (wrap.policy == "lambda") require(!wrap.match.empty(), path + ".match", "the modules that become units");
    if (wrap.policy == "module") require(!wrap.classes.empty(), path + ".classes", "the classes that become units");
    if (wrap.policy == "or") require(!wrap.any.empty(), path + ".any", "the policies to combine");
    for (std::size_t i = 0; i < wrap.any.size(); ++i) check_wrap(fmt::format("{}.any[{}]", path, i), wrap.any[i]);
  }

  void check_train() {
    const TrainSpec& train = scenario_.train;
    if (train.clip_norm && train.clip_value) refuse("train.clip_value", "contradicts train.clip_norm", "give one of the two");
    if (train.epochs > 0 && train.steps > 0) refuse("train.epochs", "contradicts train.steps", "give one of the two");
    const ScheduleSpec& schedule = train.schedule;
    if (schedule.kind != "constant") {
      require(schedule.total_steps > 0, "train.schedule.total_steps", "the step at which the learning rate is 0");
      if (schedule.total_steps > 0 && schedule.warmup_steps >= schedule.total_steps) {
        refuse("train.schedule.warmup_steps", "the warm-up is as long as the training or longer");
      }
    }
    if (train.save.every > 0) require(!scenario_.checkpoint.path.empty(), "checkpoint.path", "the folder for train.save");
  }

  void check_rest() {
    const bool cpu = scenario_.cluster.device == "cpu";
    if (cpu && scenario_.launch.backend == "nccl") refuse("launch.backend", "nccl needs GPUs, the cluster has CPU ranks", "use gloo");
    const bool to_nvme = scenario_.offload.parameters == "nvme" || scenario_.offload.optimizer == "nvme";
    if (to_nvme) require(!scenario_.cluster.nvme.path.empty(), "cluster.nvme.path", "the drive that offload uses");
    if (scenario_.precision.keep_low_precision_grads && scenario_.parallel.strategy != "fsdp1") {
      refuse("precision.keep_low_precision_grads", "has no effect with strategy " + scenario_.parallel.strategy, "it belongs to fsdp1");
    }
  }

  const Scenario& scenario_;
  const ScenarioSource& source_;
  Problems problems_;
};

}  // namespace

Status validate_scenario(const Scenario& scenario, const ScenarioSource& source) { return Validation(scenario, source).run(); }

}  // namespace shardlab
