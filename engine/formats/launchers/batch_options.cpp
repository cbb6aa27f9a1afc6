#include "engine/formats/launchers/batch_options.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

constexpr std::pair<std::string_view, std::string_view> k_short_batch[] = {
    {"-N", "nodes"},     {"-n", "ntasks"},  {"-c", "cpus_per_task"}, {"-J", "job_name"}, {"-t", "time"},
    {"-p", "partition"}, {"-A", "account"}, {"-o", "output"},        {"-e", "error"},    {"-G", "gpus"}};
constexpr std::string_view k_batch_options[] = {"nodes",
                                                "ntasks",
                                                "ntasks_per_node",
                                                "gpus_per_node",
                                                "gpus",
                                                "gpus_per_task",
                                                "gres",
                                                "cpus_per_task",
                                                "cpus_per_gpu",
                                                "job_name",
                                                "time",
                                                "partition",
                                                "account",
                                                "output",
                                                "error",
                                                "exclusive",
                                                "mem",
                                                "mem_per_cpu",
                                                "mem_per_gpu",
                                                "qos",
                                                "constraint",
                                                "nodelist",
                                                "exclude",
                                                "mail_type",
                                                "mail_user",
                                                "requeue",
                                                "no_requeue",
                                                "signal",
                                                "array",
                                                "dependency",
                                                "export",
                                                "chdir",
                                                "comment",
                                                "reservation",
                                                "open_mode",
                                                "switches",
                                                "begin",
                                                "hint",
                                                "distribution",
                                                "gpu_bind",
                                                "wait_all_nodes",
                                                "threads_per_core",
                                                "ntasks_per_gpu",
                                                "ntasks_per_socket",
                                                "wckey",
                                                "licenses",
                                                "overcommit",
                                                "verbose",
                                                "quiet",
                                                "nice",
                                                "priority",
                                                "contiguous",
                                                "cluster_constraint",
                                                "clusters",
                                                "get_user_env",
                                                "input",
                                                "kill_on_invalid_dep",
                                                "network",
                                                "profile",
                                                "propagate",
                                                "sockets_per_node",
                                                "tmp",
                                                "uid",
                                                "gid",
                                                "wrap",
                                                "heterogeneous"};

// getopt takes the beginning of one name for the name.
std::string whole_name(const std::string& name, const std::vector<std::string>& known) {
  std::string only;
  for (const std::string& each : known) {
    if (each == name) return name;
    if (!each.starts_with(name)) continue;
    if (!only.empty()) return {};
    only = each;
  }
  return only;
}

}  // namespace

void read_batch_options(const std::vector<ShellWord>& words, ForeignValue& batch, Problems& problems) {
  std::vector<std::string> known(std::begin(k_batch_options), std::end(k_batch_options));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShellWord& word = words[i];
    const std::size_t equals = word.text.find('=');
    std::string name = word.text.substr(0, equals);
    std::string joined;  // the value of -N2
    for (const auto& [letter, meaning] : k_short_batch) {
      if (!name.starts_with(letter)) continue;
      joined = word.text.substr(letter.size());
      name = "--" + std::string(meaning);
      break;
    }
    if (!name.starts_with("--")) continue;
    name = option_name(name.substr(2));
    if (const std::string whole = whole_name(name, known); !whole.empty()) name = whole;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = nearest_name(name, known);
      problems.add(word.place,
                   fmt::format("#SBATCH: unknown option '--{}'",
                               word.text.substr(2, equals == std::string::npos ? equals : equals - 2)),
                   near ? fmt::format("did you mean '--{}'?", *near) : "", ErrorCode::unknown_key);
      continue;
    }
    ShellWord value = word;
    value.text = equals == std::string::npos ? joined : word.text.substr(equals + 1);
    if (value.text.empty() && equals == std::string::npos && i + 1 < words.size() &&
        !words[i + 1].text.starts_with("-"))
      value = words[++i];
    batch.entries.push_back({name, word.place, shell_value(value)});
  }
}

std::map<std::string, ShellWord> batch_variables(std::span<const ShellWord> words) {
  static constexpr std::pair<std::string_view, std::string_view> k_variables[] = {
      {"nodes", "SLURM_NNODES"},
      {"nodes", "SLURM_JOB_NUM_NODES"},
      {"ntasks", "SLURM_NTASKS"},
      {"ntasks_per_node", "SLURM_NTASKS_PER_NODE"},
      {"cpus_per_task", "SLURM_CPUS_PER_TASK"},
      {"gpus_per_node", "SLURM_GPUS_PER_NODE"},
      {"gpus_per_node", "SLURM_GPUS_ON_NODE"},
      {"gres", "SLURM_GPUS_ON_NODE"}};
  ForeignValue batch = foreign_map({});
  Problems unknown;  // told when the options themselves are read
  read_batch_options({words.begin(), words.end()}, batch, unknown);
  std::map<std::string, ShellWord> variables;
  for (const auto& [option, name] : k_variables) {
    const ForeignValue* const value = batch.find(option);
    if (value == nullptr) continue;
    ShellWord word{value->text, false, value->place};
    word.text.erase(0, word.text.rfind(':') + 1);  // of "gpu:h100:8"
    const bool is_number =
        !word.text.empty() && word.text.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) variables[std::string(name)] = std::move(word);
  }
  return variables;
}

ForeignValue shell_value(const ShellWord& word) {
  ForeignValue value = foreign_text(word.text, word.place);
  value.flag = word.is_open;
  return value;
}

std::string option_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace shardlab
