#include "gui/session/doctor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace shardlab::gui {

Doctor::Doctor(std::function<void()> wake) : scenario_thread_(wake), log_thread_(std::move(wake)) {}

void Doctor::ask() {
  if (std::exchange(asked_, true)) return;
  examine_newest();
}

void Doctor::look_at(ScenarioToExamine scenario) {
  newest_ = std::move(scenario);
  if (asked_) examine_newest();
}

void Doctor::outdate() {
  newest_.reset();
  scenario_thread_.drop_all();
}

void Doctor::forget() {
  outdate();
  scenario_.reset();
}

void Doctor::examine_newest() {
  if (!newest_) return;
  scenario_thread_.drop_all();
  scenario_thread_.add([this, scenario = *std::exchange(newest_, std::nullopt)](
                           const TaskThread::IsWanted& is_wanted) -> TaskThread::Delivery {
    auto examined = std::make_shared<const ExaminedScenario>(examine_scenario(scenario, is_wanted));
    return [this, examined = std::move(examined)] { scenario_ = examined; };
  });
}

void Doctor::read_log(const std::filesystem::path& file) {
  add_log({file.filename().string(), file, {}});
}

void Doctor::paste_log(std::string text) {
  ++pasted_;
  add_log({pasted_ == 1 ? "pasted log" : fmt::format("pasted log {}", pasted_), {}, std::move(text)});
}

void Doctor::add_log(LogSource log) {
  ++logs_given_;
  log_thread_.add(
      [this, log = std::move(log)](const TaskThread::IsWanted& is_wanted) -> TaskThread::Delivery {
        auto examined = std::make_shared<const ExaminedLog>(examine_log(log, is_wanted));
        return [this, examined = std::move(examined)] { keep(examined); };
      });
}

void Doctor::keep(std::shared_ptr<const ExaminedLog> log) {
  std::erase_if(logs_, [&](const auto& known) { return !log->file.empty() && known->file == log->file; });
  logs_.push_back(std::move(log));
}

void Doctor::clear_logs() {
  log_thread_.drop_all();
  logs_.clear();
  pasted_ = 0;
}

void Doctor::update() {
  scenario_thread_.deliver();
  log_thread_.deliver();
}

void Doctor::wait_until_done() {
  scenario_thread_.wait_until_done();
  log_thread_.wait_until_done();
}

}  // namespace shardlab::gui
