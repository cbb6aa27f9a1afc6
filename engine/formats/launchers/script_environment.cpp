#include "engine/formats/launchers/script_environment.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/rank_variables.h"

namespace shardlab {
namespace {

struct SlowVariable {
  std::string_view name;
  std::string_view value;  // that does it; empty: every one but 0
  std::string_view what;
  ErrorCode code;
};
constexpr SlowVariable k_slow[] = {
    {"CUDA_LAUNCH_BLOCKING", "", "the host waits for every kernel, and nothing overlaps",
     ErrorCode::nothing_overlaps},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "", "every tensor is asked of the driver, which waits for the device",
     ErrorCode::nothing_overlaps},
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "the ranks compare every collective before it is issued",
     ErrorCode::nothing_overlaps},
    {"NCCL_P2P_DISABLE", "", "the GPUs of a machine exchange through host memory",
     ErrorCode::no_direct_access},
};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class EnvironmentReader {
 public:
  EnvironmentReader(const LaunchScript& script, const ImportSubject& subject, ImportReading& reading)
      : script_(script), s_(subject), reading_(reading) {
    variables_.kind = YamlNode::Kind::map;
  }

  void read() {
    // A variable that is set twice has its last value.
    std::map<std::string_view, const ForeignValue*> last;
    for (const auto& [name, value] : script_.environment) last[name] = &value;
    for (const auto& [name, value] : script_.environment) {
      if (last[name] == &value) read_variable(name, value);
    }
    if (!variables_.entries.empty()) {
      const Place place = variables_.entries.back().place;
      put("launch.env", std::move(variables_), place, "export");
    }
  }

 private:
  void read_variable(const std::string& name, const ForeignValue& value) {
    static constexpr std::string_view k_allocator[] = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};
    static constexpr std::string_view k_interface[] = {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"};
    static constexpr std::string_view k_launch[] = {"NPROC_PER_NODE", "NNODES"};  // of programs (own_ranks())
    const bool is_known = is_of_ranks(name);
    if (!script_.exported.contains(name)) {
      if (is_known && !script_.used.contains(name)) warn_of_hidden(name, value);
      return;
    }
    if (is_one_of(k_launch, name) || (!is_known && script_.used.contains(name))) return;
    if (value.flag) return list(name, value, "a variable, known when the script runs");
    if (!is_known) return list_other(name, value);
    if (is_one_of(k_allocator, name))
      return put("cluster.allocator.conf", yaml_scalar(value.text, true), value.place, name);
    if (is_one_of(k_interface, name))
      return put("launch.interface", yaml_scalar(value.text, true), value.place, name);
    if (is_threads_of_processors(name, value))
      return put("cluster.threads_per_rank", yaml_scalar(value.text), value.place, name);
    variables_.entries.push_back({name, value.place, yaml_scalar(value.text, true)});
    warn_of_slow(name, value);
  }

  // Ranks on processors compute with these threads.
  bool is_threads_of_processors(std::string_view name, const ForeignValue& value) const {
    static constexpr std::string_view k_threads = "OMP_NUM_THREADS";
    const bool on_processors = s_.onto != nullptr && s_.onto->cluster->device == DeviceKind::cpu;
    const auto count = parse_integer(value.text);
    return on_processors && name == k_threads && count && *count > 0;
  }

  void list_other(const std::string& name, const ForeignValue& value) {
    static constexpr std::string_view k_log = "ACCELERATE_LOG_LEVEL";
    if ((name.starts_with("ACCELERATE_") && name != k_log) || name.starts_with("FSDP_"))
      return list(name, value, "accelerate reads it; import reads the file that says the same",
                  DifferenceKind::lost);
    list(name, value,
         loads_code(name) ? "of the shell that starts the ranks" : "nothing of a step depends on it");
  }

  void warn_of_hidden(const std::string& name, const ForeignValue& value) {
    reading_.warnings.push_back({value.place,
                                 fmt::format("{} is set and not exported: the ranks do not see it", name),
                                 fmt::format("export {}={}", name, value.text), ErrorCode::no_effect});
  }

  void warn_of_slow(std::string_view name, const ForeignValue& value) {
    static constexpr std::string_view k_off[] = {"", "0"};
    for (const SlowVariable& slow : k_slow) {
      if (slow.name != name) continue;
      const bool is_on = slow.value.empty() ? !is_one_of(k_off, value.text) : slow.value == value.text;
      if (is_on)
        reading_.warnings.push_back({value.place, fmt::format("{}={}: {}", name, value.text, slow.what),
                                     "remove it where nobody looks for a mistake", slow.code});
    }
  }

  void list(const std::string& name, const ForeignValue& value, std::string_view why,
            DifferenceKind kind = DifferenceKind::elsewhere) {
    reading_.differences.push_back({name, kind, shown(value), "", std::string(why), value.place});
  }

  void put(std::string key, YamlNode value, const Place& place, std::string from) {
    ImportedSetting setting;
    setting.key = std::move(key);
    setting.value = std::move(value);
    setting.value.place = place;
    setting.from = std::move(from);
    reading_.set(std::move(setting));
  }

  const LaunchScript& script_;
  const ImportSubject& s_;
  ImportReading& reading_;
  YamlNode variables_;
};

}  // namespace

void read_script_environment(const LaunchScript& script, const ImportSubject& subject,
                             ImportReading& reading) {
  EnvironmentReader(script, subject, reading).read();
}

}  // namespace shardlab
