#include "engine/execute/rank_environment.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

extern char** environ;  // NOLINT: POSIX has no other way to list the variables

namespace shardlab {
namespace {

struct Family {
  Launcher launcher;
  std::string_view rank, world, local_rank;
  std::string_view job;  // identifies the run; a shared port is derived from it
};

constexpr std::array<Family, 3> k_families = {{
    {Launcher::torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK", ""},
    {Launcher::mpirun, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "PMIX_NAMESPACE"},
    {Launcher::slurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
}};

class Reader {
 public:
  explicit Reader(const EnvironmentVariables& variables) : variables_(variables) {}

  const std::string* find(std::string_view name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() || found->second.empty() ? nullptr : &found->second;
  }

  Result<int> number(std::string_view name, std::int64_t least, std::int64_t most) const {
    const std::string* text = find(name);
    if (text == nullptr)
      return bad_input(std::string(name), "is not set, though other variables of the launcher are");
    const auto value = parse_number(*text);
    if (!value || *value < least || *value > most) {
      return bad_input(std::string(name),
                       fmt::format("'{}' is not a number from {} to {}", *text, least, most));
    }
    return static_cast<int>(*value);
  }

  // The family that has any of its own variables.
  const Family* family() const {
    for (const Family& family : k_families) {
      if (family.launcher == Launcher::slurm && find("SLURM_STEP_ID") == nullptr)
        continue;  // a batch script, not a task of srun
      // LOCAL_RANK alone is set by other tools too.
      if (find(family.rank) != nullptr || find(family.world) != nullptr) return &family;
    }
    return nullptr;
  }

 private:
  static std::optional<std::int64_t> parse_number(const std::string& text) {
    if (text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return std::stoll(text);
  }

  const EnvironmentVariables& variables_;
};

// First host of a Slurm node list: "n[003-004,7],m1" is n003, "a,b" is a.
std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of(",-]", bracket);
  const std::size_t close = list.find(']', bracket);
  if (end == std::string::npos || close == std::string::npos) return list;
  const std::size_t next = list.find(',', close);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         list.substr(close + 1, next == std::string::npos ? next : next - close - 1);
}

std::string master_address(const Reader& reader, const Family& family, int world) {
  if (const std::string* given = reader.find("MASTER_ADDR")) return *given;
  if (family.launcher == Launcher::slurm) {
    if (const std::string* address = reader.find("SLURM_LAUNCH_NODE_IPADDR")) return *address;
    for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}) {
      if (const std::string* list = reader.find(name)) return first_host(*list);
    }
  }
  const std::string* local = reader.find("OMPI_COMM_WORLD_LOCAL_SIZE");
  const bool one_host = world == 1 || (family.launcher == Launcher::mpirun && local != nullptr &&
                                       *local == std::to_string(world));
  return one_host ? "127.0.0.1" : "";
}

// All ranks of a job compute the same port from its name (FNV-1a into the unprivileged range).
int derived_port(const std::string& job) {
  std::uint32_t hash = 2166136261U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return 20000 + static_cast<int>(hash % 20000);
}

Result<int> master_port(const Reader& reader, const Family& family) {
  if (reader.find("MASTER_PORT") != nullptr) return reader.number("MASTER_PORT", 1, 65535);
  const std::string* job = family.job.empty() ? nullptr : reader.find(family.job);
  if (job != nullptr) return derived_port(*job);
  return bad_input("MASTER_PORT",
                   fmt::format("is not set, though {} started this process", to_string(family.launcher)),
                   "set it to a free port on the first node, the same for all ranks");
}

}  // namespace

Result<std::optional<RankEnvironment>> rank_environment(const EnvironmentVariables& variables) {
  const Reader reader(variables);
  const Family* family = reader.family();
  if (family == nullptr) return std::nullopt;
  RankEnvironment environment;
  environment.launcher = family->launcher;
  SHARDLAB_TRY(environment.world, reader.number(family->world, 1, 1'000'000));
  SHARDLAB_TRY(environment.rank, reader.number(family->rank, 0, 999'999));
  if (environment.rank >= environment.world) {
    return bad_input(std::string(family->rank),
                     fmt::format("is {}, but {} is {}", environment.rank, family->world, environment.world));
  }
  environment.local_rank = 0;
  if (reader.find(family->local_rank) != nullptr) {
    SHARDLAB_TRY(environment.local_rank, reader.number(family->local_rank, 0, 999'999));
    if (environment.local_rank > environment.rank) {
      return bad_input(
          std::string(family->local_rank),
          fmt::format("is {}, but {} is {}", environment.local_rank, family->rank, environment.rank));
    }
  }
  environment.master_address = master_address(reader, *family, environment.world);
  if (environment.master_address.empty()) {
    return bad_input("MASTER_ADDR",
                     fmt::format("is not set, though {} started this process", to_string(family->launcher)),
                     "set it to the address of the first node, the same for all ranks");
  }
  SHARDLAB_TRY(environment.master_port, master_port(reader, *family));
  return environment;
}

Result<std::optional<RankEnvironment>> one_of_several(const EnvironmentVariables& variables) {
  auto environment = rank_environment(variables);
  if (environment && *environment && (*environment)->world == 1) return std::optional<RankEnvironment>();
  return environment;
}

EnvironmentVariables current_environment() {
  EnvironmentVariables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace shardlab
