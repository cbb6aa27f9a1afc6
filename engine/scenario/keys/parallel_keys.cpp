#include "engine/base/parse.h"
#include "engine/scenario/keys/sections.h"

namespace shardlab {
namespace {

const Keys<MeshSpec>& mesh_keys() {
  static const Keys<MeshSpec> keys{
      key("replicate", &MeshSpec::replicate, kind::integer(1, 1 << 20), "copies of the sharded state",
          "1; all ranks under ddp"),
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
          "fsdp1: when the next unit's gather is issued in backward"),
      key("forward", &PrefetchSpec::forward, kind::boolean(),
          "fsdp1: gather the next unit before the forward of this one"),
      key("limit_all_gathers", &PrefetchSpec::limit_all_gathers, kind::boolean(),
          "fsdp1: the host waits so that two gathers are in flight at most"),
      key("forward_depth", &PrefetchSpec::forward_depth, kind::integer(0, 1024),
          "fsdp2: units gathered ahead explicitly in forward; 0: implicit order"),
      key("backward_depth", &PrefetchSpec::backward_depth, kind::integer(0, 1024),
          "fsdp2: the same in backward"),
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

}  // namespace

Kind<std::string> reshard_after_forward_kind() {
  return {"word or integer", "true, false, default, or an integer of 2 or more",
          [](const YamlNode& node, std::string_view) -> Result<std::string> {
            SHARDLAB_TRY(const std::string text, kind::scalar_text(node));
            if (text == "default") return text;
            if (const auto value = parse_boolean(text)) return std::string(*value ? "true" : "false");
            const auto group = parse_integer(text);
            if (!group) return kind::unknown_word("value", text, {"true", "false", "default"});
            if (*group < 2 || *group > (1 << 20))
              return bad_input({}, text + " is out of range", "allowed: 2 to 1048576");
            return std::to_string(*group);
          },
          [](const std::string& text) { return yaml_scalar(text); }};
}

const Keys<ParallelSpec>& parallel_keys() {
  using S = ParallelSpec;
  static const Keys<S> keys{
      key("strategy", &S::strategy,
          kind::word({"none", "ddp", "fsdp2", "fsdp1", "zero1", "zero2", "zero3", "native"}),
          "who owns which part of parameters, gradients and optimizer state"),
      section("mesh", &S::mesh, &mesh_keys),
      only_with("strategy", {"fsdp1"},
                key("sharding", &S::sharding, kind::word<Fsdp1Sharding>(), "FSDP1's ShardingStrategy")),
      only_with("strategy", {"fsdp1"},
                key("use_orig_params", &S::use_orig_params, kind::boolean(), "FSDP1's option of that name")),
      only_with("strategy", {"fsdp2", "native"},
                key("reshard_after_forward", &S::reshard_after_forward, reshard_after_forward_kind(),
                    "free gathered parameters after forward; default: true for units, false for the root; an "
                    "integer: reshard to that many ranks")),
      only_with("strategy", {"fsdp2"},
                key("reshard_after_backward", &S::reshard_after_backward, kind::boolean(),
                    "free gathered parameters after each micro-batch's backward")),
      only_with("strategy", {"fsdp2"},
                key("requires_all_reduce", &S::requires_all_reduce, kind::boolean(),
                    "all-reduce between replicas in every micro-batch that reduces")),
      only_with("strategy", {"fsdp1", "fsdp2", "native"}, section("wrap", &S::wrap, &wrap_keys, "policy")),
      only_with("strategy", {"fsdp1", "fsdp2", "native"}, section("prefetch", &S::prefetch, &prefetch_keys)),
      only_with("strategy", {"ddp"}, section("ddp", &S::ddp, &ddp_keys)),
      only_with("strategy", {"zero1", "zero2", "zero3"},
                key("zero", &S::zero, zero_kind(),
                    "keys of DeepSpeed's zero_optimization section, by their own names")),
      only_with("strategy", {"fsdp1"},
                key("sync_module_states", &S::sync_module_states, kind::boolean(),
                    "broadcast rank 0's parameters at construction")),
      key("initialization", &S::initialization, kind::word<Initialization>(),
          "where parameters are made before they are sharded"),
  };
  return keys;
}

}  // namespace shardlab
