// A job as JSON: every field is a row of a table, from which it is written and read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/base/json_depth.h"
#include "engine/base/version.h"
#include "engine/execute/rank_job.h"

namespace shardlab {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Path = std::filesystem::path;

constexpr const char* k_versions = "launcher and ranks must be the same version of shardlab, on all machines";

template <typename Owner, typename Value>
struct Field {
  const char* name;
  Value Owner::*member;
};
template <typename Owner, typename Value>
Field(const char*, Value Owner::*) -> Field<Owner, Value>;

template <typename T>
constexpr auto k_fields = nullptr;
template <>
constexpr auto k_fields<TrainingExtras> = std::tuple{
    Field{"save_weights", &TrainingExtras::save_weights},
    Field{"save_load", &TrainingExtras::save_load},
    Field{"memory_snapshot", &TrainingExtras::memory_snapshot},
    Field{"poison", &TrainingExtras::poison},
    Field{"jitter", &TrainingExtras::jitter},
};
template <>
constexpr auto k_fields<ProbeCase> = std::tuple{
    Field{"probe", &ProbeCase::probe},
    Field{"shape", &ProbeCase::shape},
};
template <>
constexpr auto k_fields<ProbeList> = std::tuple{
    Field{"budget_ms", &ProbeList::budget_ms},
    Field{"cases", &ProbeList::cases},
};
template <>
constexpr auto k_fields<RankJob> = std::tuple{
    Field{"version", &RankJob::version},     Field{"kind", &RankJob::kind},
    Field{"directory", &RankJob::directory}, Field{"run_hash", &RankJob::run_hash},
    Field{"threads", &RankJob::threads},     Field{"environment", &RankJob::environment},
    Field{"extras", &RankJob::extras},       Field{"probes", &RankJob::probes},
    Field{"scenario", &RankJob::scenario},   Field{"swap_run", &RankJob::swap_run},
};

template <typename T>
constexpr bool k_has_fields = !std::is_same_v<decltype(k_fields<T>), const std::nullptr_t>;

// Paths may hold bytes that are not UTF-8, which JSON's strings cannot: those are numbers.
OrderedJson json_of_text(const std::string& text) {
  try {
    (void)OrderedJson(text).dump();
    return text;
  } catch (const OrderedJson::exception&) {
    return {{"bytes", std::vector<std::uint8_t>(text.begin(), text.end())}};
  }
}

std::string text_of(const OrderedJson& json) {
  if (!json.is_object() || json.size() != 1) return json.get<std::string>();
  const auto bytes = json.at("bytes").get<std::vector<std::uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

template <typename T>
OrderedJson json_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return json_of_text(value);
  } else if constexpr (std::is_same_v<T, Path>) {
    return json_of_text(value.string());
  } else if constexpr (std::is_same_v<T, JobKind>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_same_v<T, std::vector<ProbeCase>>) {
    OrderedJson list = OrderedJson::array();
    for (const ProbeCase& each : value) list.push_back(json_of(each));
    return list;
  } else if constexpr (k_has_fields<T>) {
    OrderedJson object = OrderedJson::object();
    std::apply([&](const auto&... field) { ((object[field.name] = json_of(value.*field.member)), ...); },
               k_fields<T>);
    return object;
  } else {
    return value;
  }
}

template <typename T>
T value_of(const OrderedJson& json) {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Path>) {
    return text_of(json);
  } else if constexpr (std::is_same_v<T, JobKind>) {
    return parse_word<JobKind>(json.get<std::string>()).value_or(JobKind{});
  } else {
    return json.get<T>();
  }
}

tl::unexpected<Error> wrong(const std::string& what) {
  return bad_input({}, what, k_versions);
}

std::string below(const std::string& name, std::string_view field) {
  return name.empty() ? std::string(field) : fmt::format("{}.{}", name, field);
}

template <typename T>
Status read(const std::string& name, const OrderedJson& json, T& value);

// All fields must be there, and no other.
template <typename T>
Status read_fields(const std::string& name, const OrderedJson& json, T& value) {
  Status status;
  const auto read_one = [&](const auto& field) {
    if (!json.contains(field.name))
      status = wrong(fmt::format("'{}' is missing", below(name, field.name)));
    else
      status = read(below(name, field.name), json[field.name], value.*field.member);
    return status.has_value();
  };
  std::apply([&](const auto&... field) { (void)(read_one(field) && ...); }, k_fields<T>);
  if (!status) return status;
  for (const auto& [key, unused] : json.items()) {
    const bool is_known =
        std::apply([&key = key](const auto&... field) { return ((key == field.name) || ...); }, k_fields<T>);
    if (!is_known) return wrong(fmt::format("'{}' is unknown", below(name, key)));
  }
  return {};
}

template <typename T>
Status read(const std::string& name, const OrderedJson& json, T& value) {
  const auto refused = [&] {
    constexpr std::size_t k_longest = 60;
    return wrong(fmt::format("'{}' cannot be {}", name, json.dump().substr(0, k_longest)));
  };
  if constexpr (k_has_fields<T>) {
    if (!json.is_object()) return refused();
    return read_fields(name, json, value);
  } else if constexpr (std::is_same_v<T, std::vector<ProbeCase>>) {
    if (!json.is_array()) return refused();
    for (const OrderedJson& each : json) {
      const std::string place = below(name, std::to_string(value.size()));
      SHARDLAB_CHECK_OK(read(place, each, value.emplace_back()));
    }
  } else {
    try {
      value = value_of<T>(json);
    } catch (const OrderedJson::exception&) {
      return refused();
    }
    // The library reads 2.7 as 2 and true as 1.
    if (json_of(value) != json) return refused();
  }
  return {};
}

}  // namespace

Result<std::string> rank_job_text(const RankJob& job) {
  try {
    return json_of(job).dump(1) + "\n";
  } catch (const OrderedJson::exception&) {
    return bad_input("launch.environment", "a variable that is not UTF-8 cannot be told to the ranks",
                     "set it before starting shardlab: the ranks inherit it");
  }
}

Result<RankJob> parse_rank_job(std::string_view text) {
  const bool is_too_much = is_json_too_deep(text) || has_too_many_members(text);
  const OrderedJson json = is_too_much ? OrderedJson() : OrderedJson::parse(text, nullptr, false);
  if (!json.is_object())
    return bad_input({}, "is not the job of a rank",
                     "shardlab writes one for every run: start the run again");
  std::string version;
  if (!json.contains("version")) return wrong("'version' is missing");
  SHARDLAB_CHECK_OK(read("version", json["version"], version));
  if (version != program_version())
    return run_failed({},
                      fmt::format("was written by shardlab {}, this rank is {}", version, program_version()),
                      k_versions);
  RankJob job;
  SHARDLAB_CHECK_OK(read("", json, job));
  if (job.threads < 1) return wrong("'threads' must be at least 1");
  return job;
}

}  // namespace shardlab
