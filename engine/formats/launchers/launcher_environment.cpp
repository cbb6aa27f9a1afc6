#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "engine/formats/launchers/launcher_targets.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

bool is_variable(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string exported(std::string_view name, std::string_view value) {
  return fmt::format("export {}={}\n", name, shell_quoted(value));
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

TargetRefusal environment_problem(const ExportSubject& subject) {
  for (const auto& [name, value] : subject.scenario.launch->environment) {
    if (!is_variable(name)) return {fmt::format("'{}' is no name of a shell's variable", name), "launch.env"};
  }
  return {};
}

std::string environment_lines(const ExportSubject& subject) {
  const ClusterSpec& cluster = *subject.scenario.cluster;
  const LaunchSpec& launch = *subject.scenario.launch;
  std::string lines;
  if (on_processors(subject)) lines += exported("OMP_NUM_THREADS", std::to_string(cluster.threads_per_rank));
  if (!cluster.allocator_conf.empty()) lines += exported("PYTORCH_ALLOC_CONF", cluster.allocator_conf);
  if (!launch.interface.empty())
    lines += exported(on_processors(subject) ? "GLOO_SOCKET_IFNAME" : "NCCL_SOCKET_IFNAME", launch.interface);
  for (const auto& [name, value] : launch.environment) lines += exported(name, value);
  return lines;
}

}  // namespace shardlab
