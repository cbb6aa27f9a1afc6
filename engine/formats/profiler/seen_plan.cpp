#include "engine/formats/profiler/seen_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/dtype.h"
#include "engine/base/lower_case.h"
#include "engine/formats/profiler/seen_marks.h"
#include "engine/formats/profiler/seen_model.h"
#include "engine/formats/profiler/work_names.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_words.h"

namespace shardlab {
namespace {

using K = InstructionKind;

std::string times(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string strategy_of(Framework framework, int stage = 0) {
  for (const KnownStrategy& each : known_strategies())
    if (each.facts->framework == framework && each.facts->zero_stage == stage) return std::string(each.name);
  return {};
}

class PlanReader {
 public:
  PlanReader(const ProfilerTrace& trace, int world)
      : marks_(seen_marks(trace)), model_(seen_model(marks_)), world_(world) {}

  std::optional<SeenPlan> read() {
    if (!marks_.units.empty()) {
      read_fsdp2();
    } else if (marks_.fsdp1_forwards > 0) {
      read_fsdp1();
    } else if (marks_.deepspeed) {
      read_deepspeed();
    } else if (marks_.ddp_forwards > 0) {
      read_ddp();
    } else {
      return std::nullopt;
    }
    add_ranks();
    add_optimizer();
    return std::move(plan_);
  }

 private:
  void add(std::string key, std::string value, Sureness sure, std::string why) {
    plan_.settings.push_back({std::move(key), std::move(value), sure, std::move(why)});
  }

  void name(std::string_view framework, std::string_view more) {
    plan_.words = fmt::format("{} of {}, {}", framework, model_.words(), more);
  }

  void add_micro_batches(int count, std::string_view mark) {
    if (count > 1) plan_.words += fmt::format(" of {} micro-batches", count);
    if (count > 0)
      add("train.accumulation", std::to_string(count), Sureness::counted,
          fmt::format("{} is there {} in a step", mark, count == 1 ? "once" : times(count, "time")));
  }

  // Units alike, of which the first that is a layer speaks for the others.
  const SeenUnit* layer() const {
    const auto found = std::find_if(marks_.units.begin(), marks_.units.end(), [&](const SeenUnit& each) {
      return !model_.container.empty() && each.module.starts_with(model_.container + ".");
    });
    return found == marks_.units.end() ? nullptr : &*found;
  }
  const SeenUnit* root() const {
    const auto found = std::find_if(marks_.units.begin(), marks_.units.end(),
                                    [](const SeenUnit& each) { return each.module == "root"; });
    return found == marks_.units.end() ? nullptr : &*found;
  }

  void read_fsdp2() {
    int gathers = 0;
    for (const SeenUnit& each : marks_.units) gathers += each.gathers;
    name("FSDP2", times(gathers, "gather") + " a step");
    add("parallel.strategy", strategy_of(Framework::fsdp2), Sureness::named, "annotations FSDP::");
    add_wrap();
    const SeenUnit* const model = root();
    const SeenUnit& unit = layer() != nullptr ? *layer() : marks_.units.front();
    const int micro_batches = model != nullptr ? model->forwards : unit.forwards;
    add_micro_batches(micro_batches, "FSDP::pre_forward of the whole model");
    if (layer() != nullptr) add_reshard(unit, micro_batches);
    if (micro_batches > 1) add_sync(unit.reductions, micro_batches);
    add_replicas("parallel.mesh.replicate");
    add_precision();
  }

  void add_wrap() {
    if (model_.layers == 0 && marks_.units.size() == 1) {
      add("parallel.wrap.policy", "none", Sureness::counted, "one unit is gathered");
      return;
    }
    if (model_.others_wrapped || model_.layers == 0) {
      add("parallel.wrap.policy", "transformer", Sureness::guessed,
          fmt::format("{} units are gathered, more than layers and the rest", marks_.units.size()));
    } else {
      add("parallel.wrap.policy", "transformer", Sureness::counted,
          fmt::format("{} layers are units, and the rest is one", model_.layers));
    }
    add_wrap_class();
  }

  void add_wrap_class() {
    if (model_.layer_class.empty()) return;
    add("parallel.wrap.classes", fmt::format("[{}]", model_.layer_class), Sureness::counted,
        fmt::format("{} of its modules ran", model_.layers));
  }

  // A layer's gathers beside its forwards: the second of each is backward's. Checkpointing runs forward again
  // in backward, where the parameters are there already.
  void add_reshard(const SeenUnit& unit, int micro_batches) {
    constexpr const char* k_key = "parallel.reshard_after_forward";
    if (unit.gathers == 2 * micro_batches) {
      add(k_key, "true", Sureness::counted, "each layer is gathered twice for one forward");
    } else if (unit.gathers == micro_batches) {
      add(k_key, "false", Sureness::counted, "each layer is gathered once for forward and backward");
    }
  }

  void add_sync(int reductions, int micro_batches) {
    if (reductions == micro_batches) {
      add("train.sync", std::string(to_string(GradientSync::every)), Sureness::counted,
          "gradients are reduced in every micro-batch");
    } else if (reductions == 1) {
      add("train.sync", std::string(to_string(GradientSync::last)), Sureness::counted,
          "gradients are reduced once in a step");
    }
  }

  // Gathers among fewer ranks than there are.
  int replicas() const {
    const ProfiledCollectives* const gathers = marks_.most_of(K::AllGather);
    const int group = gathers == nullptr ? 0 : gathers->group_size;
    return group > 0 && group < world_ && world_ % group == 0 ? world_ / group : 1;
  }
  void add_replicas(std::string key) {
    if (const int count = replicas(); count > 1)
      add(std::move(key), std::to_string(count), Sureness::counted,
          fmt::format("gathers are among {} of {} ranks", world_ / count, world_));
  }

  // What is gathered is computed in; what is reduced is reduced in.
  void add_precision() {
    const ProfiledCollectives* const gathers = marks_.most_of(K::AllGather);
    const ProfiledCollectives* reductions = marks_.most_of(K::ReduceScatter);
    if (reductions == nullptr) reductions = marks_.most_of(K::AllReduce);  // how Gloo does it
    const auto param = gathers == nullptr ? std::nullopt : dtype_of(gathers->dtype);
    const auto reduce = reductions == nullptr ? std::nullopt : dtype_of(reductions->dtype);
    if (param && *param != DType::float32)
      add("precision.param", std::string(to_string(*param)), Sureness::counted,
          fmt::format("gathers are in {}", to_string(*param)));
    if (reduce && param && *reduce != *param)
      add("precision.reduce", std::string(to_string(*reduce)), Sureness::counted,
          fmt::format("gradients are reduced in {}", to_string(*reduce)));
  }

  void read_fsdp1() {
    const int gathers = marks_.count_of(K::AllGather), steps = std::max(1, marks_.fsdp1_steps);
    const int units = marks_.fsdp1_forwards / steps;
    // The root stays gathered from forward to backward whatever the form.
    const bool twice = gathers == steps * (2 * units - 1) && units > 1, once = gathers == steps * units;
    const bool hybrid = replicas() > 1;
    const Fsdp1Sharding sharding = gathers == 0 ? Fsdp1Sharding::no_shard
                                   : twice  ? hybrid ? Fsdp1Sharding::hybrid_shard : Fsdp1Sharding::full_shard
                                   : hybrid ? Fsdp1Sharding::hybrid_shard_zero2
                                            : Fsdp1Sharding::shard_grad_op;
    name("FSDP1", times(gathers, "gather") + " a step");
    add("parallel.strategy", strategy_of(Framework::fsdp1), Sureness::named,
        "annotations FullyShardedDataParallel.");
    add("parallel.sharding", std::string(to_string(sharding)),
        twice || once || gathers == 0 ? Sureness::counted : Sureness::guessed,
        fmt::format("{} of {} a step", times(gathers, "gather"), times(units, "unit")));
    if (units > 1) {
      add("parallel.wrap.policy", "transformer",
          units == model_.layers + 1 ? Sureness::counted : Sureness::guessed,
          fmt::format("{} units run in a forward", units));
      add_wrap_class();
    }
    add_micro_batches(marks_.fsdp1_steps, "the root's forward");
    add_replicas("parallel.mesh.replicate");
    add_precision();
  }

  void read_ddp() {
    const int reductions = marks_.count_of(K::AllReduce);
    name("DDP", times(reductions, "all-reduce") + " a step");
    add("parallel.strategy", strategy_of(Framework::ddp), Sureness::named,
        "annotations DistributedDataParallel.forward");
    add_micro_batches(marks_.ddp_forwards, "DistributedDataParallel.forward");
    const ProfiledCollectives* const most = marks_.most_of(K::AllReduce);
    const auto dtype = most == nullptr ? std::nullopt : dtype_of(most->dtype);
    if (dtype)
      add("model.dtype", std::string(to_string(*dtype)), Sureness::counted,
          fmt::format("gradients are reduced in {}", to_string(*dtype)));
  }

  void read_deepspeed() {
    const bool stage_3 = marks_.zero_3;
    if (stage_3) {
      name("ZeRO-3", times(marks_.count_of(K::AllGather), "gather") + " a step");
      add("parallel.strategy", strategy_of(Framework::deepspeed, 3), Sureness::named,
          "functions of deepspeed/runtime/zero/stage3.py");
    } else if (marks_.zero_1_or_2) {
      name("ZeRO-1 or 2", times(marks_.count_of(K::AllReduce), "all-reduce") + " a step");
      add("parallel.strategy", strategy_of(Framework::deepspeed, 2), Sureness::guessed,
          "functions of deepspeed/runtime/zero/stage_1_and_2.py, which stage 1 runs as well");
    } else {
      name("DeepSpeed", "its stage is not seen");
      const bool gathers = marks_.count_of(K::AllGather) > 0;
      add("parallel.strategy", strategy_of(Framework::deepspeed, gathers ? 2 : 0), Sureness::guessed,
          gathers ? "its engine is marked, and parameters are gathered"
                  : "its engine is marked, and nothing is gathered");
    }
    add_micro_batches(marks_.deepspeed_forwards, "DeepSpeedEngine.forward");
    const ProfiledCollectives* const gathers = marks_.most_of(K::AllGather);
    const auto dtype = gathers == nullptr ? std::nullopt : dtype_of(gathers->dtype);
    if (dtype && *dtype != DType::float32)
      add("precision.param", std::string(to_string(*dtype)), Sureness::counted,
          fmt::format("gathers are in {}", to_string(*dtype)));
  }

  // How many nodes they are on is not in a trace.
  void add_ranks() {
    constexpr int k_usual = 8;
    const bool whole_nodes = world_ > k_usual && world_ % k_usual == 0;
    const int nodes = whole_nodes ? world_ / k_usual : 1;
    const Sureness sure = world_ > k_usual ? Sureness::guessed : Sureness::counted;
    add("cluster.gpus_per_node", std::to_string(world_ / nodes), sure, fmt::format("{} ranks", world_));
    add("cluster.nodes", std::to_string(nodes), Sureness::guessed,
        nodes == 1 ? "one node holds them" : "eight ranks a node");
  }

  void add_optimizer() {
    const auto optimizer = parse_word<Optimizer>(in_lower_case(marks_.optimizer));
    if (optimizer)
      add("train.optimizer", std::string(to_string(*optimizer)), Sureness::named,
          "annotation Optimizer.step#" + marks_.optimizer);
  }

  SeenMarks marks_;
  SeenModel model_;
  int world_;
  SeenPlan plan_;
};

}  // namespace

const SeenSetting* SeenPlan::find(std::string_view key) const {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const SeenSetting& each) { return each.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

std::optional<SeenPlan> seen_plan(const std::vector<ProfilerTrace>& traces) {
  if (traces.empty()) return std::nullopt;
  int world = static_cast<int>(traces.size());
  for (const ProfilerTrace& trace : traces) world = std::max(world, trace.world_size.value_or(1));
  return PlanReader(traces.front(), world).read();
}

}  // namespace shardlab
