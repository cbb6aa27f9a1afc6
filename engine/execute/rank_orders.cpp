#include "engine/execute/rank_orders.h"

#include <unistd.h>

#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"
#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/base/output_file.h"
#include "engine/execute/machine.h"
#include "engine/execute/run_folder.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_order_poll{20};

// Absent while it is not there, or not wholly.
std::optional<Json> read_json(const fs::path& file) {
  constexpr FileKind k_order_file{"order", std::int64_t{64} << 20};
  const auto text = read_input_file(file, k_order_file);
  if (!text || is_json_too_deep(*text)) return std::nullopt;
  Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

// Whoever reads the file finds all of it or none.
Status write_json(const fs::path& file, const Json& json) {
  return write_output_file(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
}

// Whether it came true in time; it is asked once at least.
template <typename Condition>
bool wait_until(std::chrono::milliseconds patience, Condition condition) {
  for (const auto end = Clock::now() + patience; !condition(); std::this_thread::sleep_for(k_order_poll))
    if (Clock::now() >= end) return false;
  return true;
}

fs::path here_path(const fs::path& folder, int rank) {
  return folder / fmt::format("here-{}", rank);
}
fs::path session_path(const fs::path& folder) {
  return folder / "session";
}
fs::path order_path(const fs::path& folder, int order) {
  return folder / fmt::format("order-{}", order);
}
fs::path report_path(const fs::path& folder, int order, int rank) {
  return folder / fmt::format("done-{}-{}", order, rank);
}

std::optional<RankReport> read_report(const fs::path& file) {
  const auto json = read_json(file);
  if (!json) return std::nullopt;
  RankReport report;
  report.host = json->value("host", "");
  report.own = Nanoseconds{json->value("own_ns", std::int64_t{0})};
  if (json->contains("error")) report.error = parse_error_json(json->at("error").dump());
  return report;
}

}  // namespace

Result<OrderWriter> OrderWriter::create(const fs::path& folder, int world) {
  SHARDLAB_CHECK_OK(make_run_folder(folder));
  SHARDLAB_CHECK_OK(empty_run_folder(folder));
  return OrderWriter(folder, world);
}

std::vector<int> OrderWriter::gather(std::chrono::milliseconds patience) {
  std::vector<int> missing;
  Json names = Json::array();
  wait_until(patience, [&] {
    missing.clear();
    names = Json::array({""});
    for (int rank = 1; rank < world_; ++rank) {
      const auto here = read_json(here_path(folder_, rank));
      if (!here) missing.push_back(rank);
      names.push_back(here ? here->value("name", "") : "");
    }
    return missing.empty();
  });
  // Whoever is there learns of it, so that the order to end reaches them at least.
  (void)write_json(session_path(folder_), {{"ranks", names}});
  return missing;
}

Status OrderWriter::write(const RankOrder& order) {
  return write_json(order_path(folder_, ++orders_),
                    {{"job", order.job.string()}, {"exit_code", order.exit_code}});
}

std::vector<std::optional<RankReport>> OrderWriter::reports(std::chrono::milliseconds patience) const {
  std::vector<std::optional<RankReport>> reports(static_cast<std::size_t>(world_));
  wait_until(patience, [&] {
    bool all = true;
    for (int rank = 1; rank < world_; ++rank) {
      auto& report = reports[static_cast<std::size_t>(rank)];
      if (!report) report = read_report(report_path(folder_, orders_, rank));
      all = all && report.has_value();
    }
    return all;
  });
  return reports;
}

void OrderWriter::clean_up(std::chrono::milliseconds patience) const {
  std::error_code ignored;
  wait_until(patience, [&] {
    for (int rank = 1; rank < world_; ++rank)
      if (fs::exists(here_path(folder_, rank), ignored)) return false;
    return true;
  });
  fs::remove(session_path(folder_), ignored);
  for (int rank = 1; rank < world_; ++rank) fs::remove(here_path(folder_, rank), ignored);
  for (int order = 1; order <= orders_; ++order) {
    fs::remove(order_path(folder_, order), ignored);
    for (int rank = 1; rank < world_; ++rank) fs::remove(report_path(folder_, order, rank), ignored);
  }
  fs::remove(folder_, ignored);  // not when the records of a failed run are in it
}

OrderReader::OrderReader(fs::path folder, int rank)
    : folder_(std::move(folder)),
      rank_(rank),
      name_(fmt::format("{} {} {}", host_identity(), ::getpid(), monotonic_now().value)) {}

bool OrderReader::is_accepted() const {
  const auto session = read_json(session_path(folder_));
  if (session && session->contains("ranks")) {
    const Json& names = session->at("ranks");
    const auto rank = static_cast<std::size_t>(rank_);
    if (names.size() > rank && names[rank] == name_) return true;
  }
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const auto here = read_json(here_path(folder_, rank_));
  if (!here || here->value("name", "") != name_)
    (void)write_json(here_path(folder_, rank_), {{"name", name_}});
  return false;
}

std::optional<RankOrder> OrderReader::next(std::chrono::milliseconds patience) {
  std::optional<Json> order;
  wait_until(patience, [&] {
    if (orders_ == 0 && !is_accepted()) return false;
    order = read_json(order_path(folder_, orders_ + 1));
    return order.has_value();
  });
  if (!order) return std::nullopt;
  ++orders_;
  return RankOrder{order->value("job", ""), order->value("exit_code", 0)};
}

Status OrderReader::report(const RankReport& report) const {
  Json json{{"host", report.host}, {"own_ns", report.own.value}};
  if (report.error) json["error"] = Json::parse(error_json(*report.error), nullptr, false);
  return write_json(report_path(folder_, orders_, rank_), json);
}

void OrderReader::leave() const {
  std::error_code ignored;
  fs::remove(here_path(folder_, rank_), ignored);
}

}  // namespace shardlab
