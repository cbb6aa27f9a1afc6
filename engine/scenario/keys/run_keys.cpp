// The sections checkpoint, launch, measure and limits.
#include <algorithm>

#include <fmt/core.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

using Tolerances = std::map<std::string, double>;

Kind<Tolerances> tolerance_kind() {
  const Kind<double> percent = kind::fraction(0, 100);
  return {"map of fractions", kind::joined(tolerance_metric_names()),
          [percent](const YamlNode& node, std::string_view name) -> Result<Tolerances> {
            Tolerances tolerances;
            if (node.is_null()) return tolerances;
            if (!node.is_map())
              return bad_input({}, fmt::format("expected a map of metrics, found {}", describe(node.kind)));
            for (const YamlEntry& entry : node.entries) {
              if (std::find(tolerance_metric_names().begin(), tolerance_metric_names().end(), entry.key) ==
                  tolerance_metric_names().end()) {
                return bad_input(entry.place, fmt::format("unknown metric '{}'", entry.key),
                                 suggestion(entry.key, tolerance_metric_names()));
              }
              auto value = percent.read(entry.value, name);
              if (!value)
                return bad_input(entry.value.place, entry.key + ": " + value.error().what,
                                 value.error().hint);
              tolerances[entry.key] = *value;
            }
            return tolerances;
          },
          [percent](const Tolerances& tolerances) {
            YamlNode map;
            map.kind = YamlNode::Kind::map;
            for (const auto& [metric, fraction] : tolerances)
              map.entries.push_back({metric, {}, percent.write(fraction)});
            return map;
          }};
}

}  // namespace

const std::vector<std::string>& tolerance_metric_names() {
  static const std::vector<std::string> names{"step_time",
                                              "tokens_per_second",
                                              "tokens_per_second_per_gpu",
                                              "mfu",
                                              "exposed_communication",
                                              "peak_allocated",
                                              "peak_active",
                                              "peak_reserved",
                                              "peak_device",
                                              "communication_bytes"};
  return names;
}

const Keys<CheckpointSpec>& checkpoint_keys() {
  using S = CheckpointSpec;
  static const Keys<S> keys{
      key("type", &S::type, kind::word<CheckpointType>(),
          "one file of everything, one file a rank, or raw shards"),
      key("path", &S::path, kind::text(), "folder of the checkpoints"),
      key("offload_to_cpu", &S::offload_to_cpu, kind::boolean(), "collect in host memory"),
      key("rank0_only", &S::rank0_only, kind::boolean(), "only rank 0 collects and writes"),
      key("resume", &S::resume, kind::text(), "checkpoint to start from"),
  };
  return keys;
}

const Keys<LaunchSpec>& launch_keys() {
  using S = LaunchSpec;
  static const Keys<S> keys{
      key("backend", &S::backend, kind::word_or_absent<CommunicationBackend>(), "communication library",
          "nccl on GPUs, gloo on CPUs"),
      key("timeout", &S::timeout, kind::duration(),
          "after which a rank that hears nothing from its peers gives up"),
      key("env", &S::environment, kind::text_map(), "environment variables of the ranks"),
      key("master", &S::master, kind::text(), "host or host:port where ranks meet", "this host, a free port"),
      key("interface", &S::interface, kind::text(), "network interface", "chosen by the library"),
      key("launcher", &S::launcher, kind::word<Launcher>(),
          "who starts the ranks: with local this program, unless a launcher did already; with another word "
          "that launcher must have, and nothing is started without it"),
  };
  return keys;
}

const Keys<MeasureSpec>& measure_keys() {
  using S = MeasureSpec;
  static const Keys<S> keys{
      key("warmup_steps", &S::warmup_steps, kind::integer(0, 1 << 20), "steps that are run and not measured"),
      key("steps", &S::steps, kind::integer(1, 1 << 20), "measured steps"),
      key("detail", &S::detail, kind::word<MeasureDetail>(),
          "what is timed; operators: also every operator by kind, as a list of the run and in comparisons"),
      key("tolerance", &S::tolerance, tolerance_kind(),
          "largest |predicted / measured - 1| by metric for a good verdict"),
  };
  return keys;
}

const Keys<LimitsSpec>& limits_keys() {
  using S = LimitsSpec;
  static const Keys<S> keys{
      key("memory", &S::memory, kind::optional(kind::size()), "of a device"),
      key("step_time", &S::step_time, kind::optional(kind::duration()), "longest step"),
      key("price", &S::price, kind::optional(kind::number(0, 1e12, true)), "dollars an hour for all GPUs"),
      key("gpus", &S::gpus, kind::optional(kind::integer(1)), "most GPUs"),
      key("objective", &S::objective, kind::word_or_absent<Objective>(), "what a search makes best",
          "tokens_per_second"),
  };
  return keys;
}

}  // namespace shardlab
