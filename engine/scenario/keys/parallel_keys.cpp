#include <fmt/core.h>

#include "engine/base/parse.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

const Keys<MeshSpec>& mesh_keys() {
  static const Keys<MeshSpec> keys{
      key("replicate", &MeshSpec::replicate, kind::integer(1, 1 << 20), "copies of the sharded state",
          "1; all ranks where nothing is sharded"),
      key("shard", &MeshSpec::shard, kind::integer(1, 1 << 20), "ranks that share one copy of the state",
          "what the others leave"),
      key("tensor", &MeshSpec::tensor, kind::integer(1, 1 << 20), "ranks that share each matrix product"),
      key("expert", &MeshSpec::expert, kind::integer(1, 1 << 20), "ranks that share the experts"),
  };
  return keys;
}

const Keys<PrefetchSpec>& prefetch_keys() {
  static const Keys<PrefetchSpec> keys{
      key("backward", &PrefetchSpec::backward, kind::word<BackwardPrefetch>(),
          of_strategies("parallel.prefetch.backward", "when the next unit's gather is issued in backward")),
      key("forward", &PrefetchSpec::forward, kind::boolean(),
          of_strategies("parallel.prefetch.forward", "gather the next unit before the forward of this one")),
      key("limit_all_gathers", &PrefetchSpec::limit_all_gathers, kind::boolean(),
          of_strategies("parallel.prefetch.limit_all_gathers",
                        "the host waits so that two gathers are in flight at most")),
      key("forward_depth", &PrefetchSpec::forward_depth, kind::integer(0, 1024),
          of_strategies("parallel.prefetch.forward_depth",
                        "units gathered ahead explicitly in forward; 0: implicit order")),
      key("backward_depth", &PrefetchSpec::backward_depth, kind::integer(0, 1024),
          of_strategies("parallel.prefetch.backward_depth", "the same in backward")),
  };
  return keys;
}

const Keys<DdpSpec>& ddp_keys() {
  static const Keys<DdpSpec> keys{
      key("bucket_size", &DdpSpec::bucket_size, kind::size(), "gradient bytes of one all-reduce"),
      key("first_bucket_size", &DdpSpec::first_bucket_size, kind::optional(kind::size()),
          "of the first all-reduce in backward", "1MiB beside the default bucket_size, else as that"),
      key("gradient_as_bucket_view", &DdpSpec::gradient_as_bucket_view, kind::boolean(),
          "gradients live in the buckets"),
      key("static_graph", &DdpSpec::static_graph, kind::boolean(), "the graph is the same in every step"),
      key("find_unused_parameters", &DdpSpec::find_unused_parameters, kind::boolean(),
          "search the graph for parameters without a gradient"),
  };
  return keys;
}

// Names and aliases, in any case; kept by its own name.
Kind<std::string> strategy_kind() {
  Kind<std::string> strategies = kind::word(strategy_names());
  strategies.read = [](const YamlNode& node, std::string_view) -> Result<std::string> {
    SHARDLAB_TRY(const std::string text, kind::scalar_text(node));
    if (auto known = strategy_called(text)) return *std::move(known);
    return bad_input({}, fmt::format("unknown strategy '{}'", text), strategy_hint(text));
  };
  return strategies;
}

}  // namespace

Kind<ReshardAfterForward> reshard_after_forward_kind() {
  return {"word or integer", "true, false, default, or an integer of 2 or more",
          [](const YamlNode& node, std::string_view) -> Result<ReshardAfterForward> {
            SHARDLAB_TRY(const std::string text, kind::scalar_text(node));
            if (const auto reshard = parse_reshard_after_forward(text)) return *reshard;
            if (!parse_integer(text)) return kind::unknown_word("value", text, all_words<ReshardKind>());
            return bad_input({}, text + " is out of range",
                             fmt::format("allowed: 2 to {}", ReshardAfterForward::k_most_ranks));
          },
          [](const ReshardAfterForward& reshard) { return yaml_scalar(to_text(reshard)); }};
}

namespace {

// A row that has no effect but under the strategies whose facts name it.
Key<ParallelSpec> by_strategy(Key<ParallelSpec> key) {
  std::vector<std::string> strategies = strategies_that_accept("parallel." + key.row.name);
  return only_with("strategy", std::move(strategies), std::move(key));
}

}  // namespace

const Keys<ParallelSpec>& parallel_keys() {
  using S = ParallelSpec;
  static const Keys<S> keys{
      key("strategy", &S::strategy, strategy_kind(),
          "who owns which part of parameters, gradients and optimizer state"),
      section("mesh", &S::mesh, &mesh_keys),
      by_strategy(key("sharding", &S::sharding, kind::word<Fsdp1Sharding>(), "FSDP1's ShardingStrategy")),
      by_strategy(
          key("use_orig_params", &S::use_orig_params, kind::boolean(), "FSDP1's option of that name")),
      by_strategy(
          key("reshard_after_forward", &S::reshard_after_forward, reshard_after_forward_kind(),
              "free gathered parameters after forward; default: true for units, false for the root; an "
              "integer: reshard to that many ranks")),
      by_strategy(key("reshard_after_backward", &S::reshard_after_backward, kind::boolean(),
                      "free gathered parameters after each micro-batch's backward")),
      by_strategy(key("requires_all_reduce", &S::requires_all_reduce, kind::boolean(),
                      "all-reduce between replicas in every micro-batch that reduces")),
      by_strategy(section("wrap", &S::wrap, &wrap_keys, "policy")),
      by_strategy(section("prefetch", &S::prefetch, &prefetch_keys)),
      by_strategy(section("ddp", &S::ddp, &ddp_keys)),
      by_strategy(key("zero", &S::zero, zero_kind(),
                      "keys of DeepSpeed's zero_optimization section, by their own names")),
      by_strategy(key("sync_module_states", &S::sync_module_states, kind::boolean(),
                      "broadcast rank 0's parameters at construction")),
      key("initialization", &S::initialization, kind::word<Initialization>(),
          "where parameters are made before they are sharded"),
  };
  return keys;
}

}  // namespace shardlab
