#include "engine/formats/launchers/srun_tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/formats/launchers/batch_options.h"

namespace shardlab {
namespace {

// The options of srun: they end before a word that is neither one nor may be the value of one.
std::optional<std::vector<ShellWord>> srun_options(const std::vector<ShellWord>& before) {
  const auto is_srun = [](const ShellWord& word) {
    return word.text.substr(word.text.rfind('/') + 1).compare("srun") == 0;
  };
  const auto srun = std::find_if(before.begin(), before.end(), is_srun);
  if (srun == before.end()) return std::nullopt;
  std::vector<ShellWord> options;
  bool may_be_value = false;
  for (auto word = srun + 1; word != before.end(); ++word) {
    const bool is_option = word->text.starts_with('-');
    if (!is_option && !may_be_value) break;
    may_be_value = is_option && word->text.find('=') == std::string::npos;
    options.push_back(*word);
  }
  return options;
}

// What srun says of its tasks, and where it says nothing sbatch.
class TaskCount {
 public:
  TaskCount(const std::vector<ShellWord>& options, const ForeignValue& batch) : batch_(batch) {
    Problems unknown;  // options of srun that sbatch does not have say nothing of tasks
    read_batch_options(options, srun_, unknown);
  }

  // Nothing where a variable says it.
  std::optional<std::int64_t> per_machine() const {
    const ForeignValue* const all = said("ntasks");
    if (all == nullptr) return said("ntasks_per_node") == nullptr ? 1 : number("ntasks_per_node");
    const auto count = number("ntasks"), machines = number("nodes");
    if (!count || !machines) return std::nullopt;
    return (*count + *machines - 1) / *machines;
  }

  std::optional<std::int64_t> number(std::string_view key) const {
    const ForeignValue* const value = said(key);
    if (value == nullptr || value->flag) return std::nullopt;
    const auto read = parse_integer(value->text);
    return read && *read > 0 && *read <= 1'000'000 ? std::optional(*read) : std::nullopt;
  }

 private:
  const ForeignValue* said(std::string_view key) const {
    const ForeignValue* const own = srun_.find(key);
    return own != nullptr ? own : batch_.find(key);
  }

  const ForeignValue& batch_;
  ForeignValue srun_ = foreign_map({});
};

// --nnodes of torchrun, which is 1 where it is left out; nothing where it is a range or a variable.
std::optional<std::int64_t> machines_that_meet(const LaunchScript& script) {
  const ForeignValue* const nodes = script.options.find("nnodes");
  if (nodes == nullptr) return 1;
  const auto read = nodes->flag ? Result<std::int64_t>(0) : parse_integer(nodes->text);
  return read && *read > 0 ? std::optional(*read) : std::nullopt;
}

// Whoever comes too late to a rendezvous waits until somebody leaves; without one the ranks are as many jobs.
std::string what_runs(const LaunchScript& script, std::int64_t tasks, std::int64_t machines) {
  const auto meeting = machines_that_meet(script);
  static constexpr std::string_view k_static = "static";
  const ForeignValue* const backend = script.options.find("rdzv_backend");
  const bool waits = backend != nullptr && k_static.compare(backend->text) != 0;
  if (script.launcher == RankStarter::torchrun && waits && meeting)
    return fmt::format("{} of these {} meet (--nnodes), wherever they run, and the others wait", *meeting,
                       tasks * machines);
  const ImportedRanks ranks = launched_ranks(script);
  if (!ranks.per_node) return "all of their ranks share its devices";
  return fmt::format("{} ranks share its devices", tasks * *ranks.per_node);
}

}  // namespace

void warn_of_tasks(const RankCommand& command, LaunchScript& script) {
  if (script.launcher == RankStarter::own) return;
  const auto options = srun_options(command.before);
  if (!options) return;
  const TaskCount count(*options, script.batch);
  const auto tasks = count.per_machine();
  if (!tasks || *tasks < 2) return;
  const std::int64_t machines = count.number("nodes").value_or(1);
  const bool is_meant =
      script.launcher == RankStarter::torchrun && machines_that_meet(script) == *tasks * machines;
  if (is_meant) return;
  script.warnings.push_back(
      {script.place,
       fmt::format("srun starts {} {} times on every machine, once a task: {}", to_string(script.launcher),
                   *tasks, what_runs(script, *tasks, machines)),
       "--ntasks-per-node=1: the launcher starts the ranks of a machine", ErrorCode::inconsistent_launch});
}

}  // namespace shardlab
