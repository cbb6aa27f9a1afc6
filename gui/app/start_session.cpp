#include "gui/app/start_session.h"

#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "engine/store/run_store.h"

namespace shardlab::gui {

namespace {

Error no_such_instruction(const Session& session, const std::string& asked) {
  if (!session.prediction())
    return bad_input("--select", "no instruction can be chosen before there is a plan", "name a scenario")
        .value();
  return bad_input("--select", "the plan has no instruction " + asked,
                   fmt::format("0 to {}", session.prediction()->plan().instructions.size() - 1))
      .value();
}

}  // namespace

void start_session(Session& session, const GuiOptions& options) {
  if (!options.database.empty()) {
    session.use_database(options.database);
  } else if (auto usual = default_database_path()) {
    session.use_database(*std::move(usual));
  } else {
    session.messages().add(usual.error(), "database", session.now());
  }
  if (!options.theme.empty()) session.preferences().theme = options.theme;
  if (options.scale > 0) session.preferences().scale = options.scale;
  if (!options.scenario.empty()) session.open(options.scenario);
  if (!options.log.empty()) session.doctor().read_log(options.log);
  if (!options.lesson.empty()) session.selection().choose_lesson({options.lesson, options.lesson_step});
}

void choose_as_asked(Session& session, const GuiOptions& options) {
  if (const std::size_t equals = options.edit.find('='); equals != std::string::npos) {
    session.set_baseline();
    session.set(options.edit.substr(0, equals), options.edit.substr(equals + 1));
  }
  std::size_t number = 0;
  const char* const end = options.select.data() + options.select.size();
  const bool is_number = std::from_chars(options.select.data(), end, number).ec == std::errc();
  if (is_number && session.prediction() && number < session.prediction()->plan().instructions.size())
    session.choose(make_id<InstructionId>(number));
  else if (!options.select.empty())
    session.messages().add(no_such_instruction(session, options.select), "--select", session.now());
  if (options.played < 1) session.selection().show_played(options.played);
  std::vector<RunId> runs;
  std::istringstream names(options.runs);
  for (std::string text; std::getline(names, text, ',');)
    if (const auto id = parse_run_id(text)) runs.push_back(*id);
  if (!runs.empty()) session.selection().choose_runs(std::move(runs));
}

}  // namespace shardlab::gui
