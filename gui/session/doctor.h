// What the doctor says about the scenario as it stands, once somebody asked, and about logs that were given.
//
// Belongs to the frame's thread; the examinations run on threads of their own, and update() takes their
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/session/examined_log.h"
#include "gui/session/examined_scenario.h"
#include "gui/session/task_thread.h"

namespace shardlab::gui {

class Doctor {
 public:
  // `wake` is called from other threads when there is something to draw; may be empty.
  explicit Doctor(std::function<void()> wake = {});

  // --- the scenario. From now on each one is examined, the newest too: for whoever shows it, as it takes a
  // prediction for every setting that is tried.
  void ask();
  // What the session knows of the newest text. It is examined instead of the one before.
  void look_at(ScenarioToExamine scenario);
  // The text is another one by now: nobody waits for what is under way.
  void outdate();
  // Another document was opened.
  void forget();
  // The newest examination, which may be of an older text; null: none yet.
  const std::shared_ptr<const ExaminedScenario>& scenario() const { return scenario_; }
  bool examining() const { return scenario_thread_.busy(); }

  // --- logs, the newest last. One that is given again takes the place of the one before.
  void read_log(const std::filesystem::path& file);
  void paste_log(std::string text);
  void clear_logs();
  const std::vector<std::shared_ptr<const ExaminedLog>>& logs() const { return logs_; }
  bool reading() const { return log_thread_.busy(); }
  // Grows when one is given, so that a panel can come to the front.
  std::uint64_t logs_given() const { return logs_given_; }

  void update();
  bool busy() const { return examining() || reading(); }
  // Waits until all is examined; for pictures and tests.
  void wait_until_done();

 private:
  void examine_newest();
  void add_log(LogSource log);
  void keep(std::shared_ptr<const ExaminedLog> log);

  bool asked_ = false;
  std::optional<ScenarioToExamine> newest_;  // that was not examined yet
  std::shared_ptr<const ExaminedScenario> scenario_;
  std::vector<std::shared_ptr<const ExaminedLog>> logs_;
  std::uint64_t logs_given_ = 0;
  int pasted_ = 0;
  // Last: their tasks know nothing of this, but what they deliver does.
  TaskThread scenario_thread_, log_thread_;
};

}  // namespace shardlab::gui
