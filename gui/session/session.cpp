#include "gui/session/session.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/output_file.h"
#include "engine/scenario/apply_settings.h"
#include "engine/scenario/yaml_edit.h"
#include "gui/session/text_file.h"

namespace shardlab::gui {

Session::Session(std::function<void()> wake)
    : runs_(wake), predictor_(wake), doctor_(wake), import_thread_(std::move(wake)) {}

bool Session::open(const std::filesystem::path& file) {
  auto text = read_text_file(file);
  if (!text) {
    messages_.add(text.error(), "file", now_);
    return false;
  }
  messages_.clear("file");
  open_text(*std::move(text), file);
  remember_file(preferences_, file);
  return true;
}

void Session::open_text(std::string text, std::filesystem::path file) {
  document_ = Document(std::move(text), file);
  watch_.know(file);
  begin_document();
  ask();
}

bool Session::save() {
  return !document_.file().empty() && save_as(document_.file());
}

bool Session::save_as(const std::filesystem::path& file) {
  if (const auto written = write_output_file(file, document_.text()); !written) {
    messages_.add(written.error(), "file", now_);
    return false;
  }
  document_.saved_as(file);
  watch_.know(file);
  messages_.clear("file");
  messages_.clear("watch");
  messages_.add({MessageKind::news, "saved " + file.string(), {}, "saved", now_});
  remember_file(preferences_, file);
  ask();  // relative paths begin in another folder now
  return true;
}

bool Session::set(std::string_view key, std::string_view value) {
  auto text = set_yaml_value(document_.text(), key, value);
  if (!text) {
    messages_.add(text.error(), "edit", now_);
    return false;
  }
  messages_.clear("edit");
  edit_text(*std::move(text), std::string(key));
  return true;
}

bool Session::unset(std::string_view key) {
  auto text = unset_yaml_value(document_.text(), key);
  if (!text) {
    messages_.add(text.error(), "edit", now_);
    return false;
  }
  edit_text(*std::move(text), std::string(key));
  return true;
}

bool Session::set_all(const std::vector<std::string>& settings) {
  auto text = apply_settings(document_.text(), file_name(), settings);
  if (!text) {
    messages_.add(text.error(), "edit", now_);
    return false;
  }
  messages_.clear("edit");
  edit_text(*std::move(text), fmt::format("{}", fmt::join(settings, " ")));
  return true;
}

void Session::edit_text(std::string text, std::string what) {
  if (document_.edit(std::move(text), {std::move(what), now_})) ask();
}

void Session::undo() {
  const std::size_t before = document_.home();
  if (document_.undo()) follow_history(before);
}

void Session::redo() {
  const std::size_t before = document_.home();
  if (document_.redo()) follow_history(before);
}

// The history may lead to another document, whose file may have changed since.
void Session::follow_history(std::size_t home_before) {
  if (document_.home() != home_before) {
    watch_.watch(document_.file());
    begin_document();
  }
  ask();
}

void Session::become(std::string text, std::string what) {
  if (documents_opened_ == 0) return open_text(std::move(text));
  document_.become(std::move(text), {std::move(what), now_});
  watch_.know({});
  begin_document();
  ask();
}

// What was known of the one before is of no use.
void Session::begin_document() {
  ++documents_opened_;
  prediction_.reset();
  doctor_.forget();
}

void Session::use_database(std::filesystem::path file) {
  if (file != runs_.path()) {
    shown_trouble_.reset();
    shown_changes_ = shown_revision_ = 0;
    messages_.clear("runs");
    messages_.clear("database");
  }
  runs_.open(file);
  calibrations_.set_database(std::move(file));
}

void Session::set_baseline() {
  if (!prediction_ || prediction_->run == baseline_of_) return;
  view::LoadedRun kept = *prediction_->run;
  kept.role = "baseline";
  baseline_ = std::make_shared<const view::LoadedRun>(std::move(kept));
  baseline_of_ = prediction_->run;
}

void Session::clear_baseline() {
  baseline_ = baseline_of_ = nullptr;
}

std::vector<view::LoadedRunPtr> Session::shown_runs() {
  std::vector<view::LoadedRunPtr> shown;
  if (prediction_) shown.push_back(prediction_->run);
  if (left_baseline()) shown.push_back(baseline_);
  for (view::LoadedRunPtr& run : runs_.loaded(selection_.runs())) shown.push_back(std::move(run));
  return shown;
}

std::vector<view::LoadedRunPtr> Session::compared_runs() {
  if (side_by_side_.empty()) return shown_runs();
  std::vector<view::LoadedRunPtr> compared = side_by_side_;
  const bool is_other =
      prediction_ && std::none_of(compared.begin(), compared.end(), [this](const view::LoadedRunPtr& run) {
        return run->record.scenario_yaml == prediction_->run->record.scenario_yaml;
      });
  if (is_other) compared.push_back(prediction_->run);
  for (view::LoadedRunPtr& run : runs_.loaded(selection_.runs())) compared.push_back(std::move(run));
  return compared;
}

void Session::choose(InstructionId id) {
  if (prediction_) selection_.choose(SelectedInstruction{prediction_->summary().plan_hash, id});
}

std::optional<InstructionId> Session::chosen() const {
  if (!prediction_) return std::nullopt;
  const auto id = selection_.in_plan(prediction_->summary().plan_hash);
  // A stored run of the same plan may have been damaged.
  if (!id || id->index() >= prediction_->plan().instructions.size()) return std::nullopt;
  return id;
}

std::string Session::file_name() const {
  return document_.file().empty() ? "untitled.yaml" : document_.file().string();
}

void Session::ask() {
  PredictionRequest request;
  request.revision = ++request_revision_;
  request.text = document_.text();
  request.file_name = file_name();
  request.calibrations = calibrations_.texts();
  request.calibrations_from = calibrations_.database().string();
  predictor_.request(std::move(request));
  doctor_.outdate();
}

void Session::take(PredictionOutcome outcome) {
  if (outcome.revision != request_revision_) return;  // the text that was asked about has changed since
  answered_revision_ = outcome.revision;
  problem_ = std::move(outcome.error);
  if (outcome.prediction) prediction_ = std::move(outcome.prediction);
  doctor_.look_at({outcome.revision, file_name(), problem_ ? nullptr : prediction_, problem_});
}

// Whatever becomes of the file, the text here stays; a new text that can be read is taken over unless there
// are edits.
void Session::watch_file() {
  const FileSight sight = watch_.look(now_);
  if (sight == FileSight::same) return;
  if (sight == FileSight::gone) {
    messages_.add({MessageKind::warning, document_.title() + " is not on disk any more",
                   "the text is kept here; saving writes it again", "watch", now_});
    return;
  }
  const auto text = read_text_file(document_.file());
  if (!text) {
    Error error = text.error();
    error.hint += error.hint.empty() ? "" : "; ";
    error.what += " since another program changed it";
    error.hint += "the text is kept here; saving writes it again";
    messages_.add(error, "watch", now_);
    return;
  }
  messages_.clear("watch");
  if (*text == document_.saved_text()) return;
  const bool edited = document_.changed() && *text != document_.text();
  document_.saved_text_is(*text);
  if (edited) {
    messages_.add({MessageKind::warning, document_.title() + " was changed by another program",
                   "your edits are kept; saving overwrites the file", "watch", now_});
    return;
  }
  edit_text(*text, "the file");
  messages_.add(
      {MessageKind::news, document_.title() + " was read again: it changed on disk", {}, "watch", now_});
}

void Session::update(double now) {
  now_ = now;
  watch_file();
  if (calibrations_.poll(now)) {
    if (calibrations_.problem()) {
      messages_.add(*calibrations_.problem(), "database", now);
    } else {
      messages_.clear("database");
    }
    if (documents_opened_ > 0) ask();
  }
  runs_.poll();
  tell_of_library();
  poll_imports();
  import_thread_.deliver();
  if (auto outcome = predictor_.take()) take(*std::move(outcome));
  if (auto found = predictor_.take_alternatives()) alternatives_ = *std::move(found);
  if (!prediction_ || alternatives_.revision != prediction_->revision) alternatives_.alternatives.clear();
  if (auto found = predictor_.take_memory()) memory_ = *std::move(found);
  doctor_.update();
  if (!prediction_ || memory_.revision != prediction_->revision) memory_ = {};
}

void Session::tell_of_library() {
  const view::StoreView& view = runs_.view();
  if (std::exchange(shown_revision_, view.revision) == view.revision) return;
  // The first run makes the file, which is empty for a moment. By what the store found: by now it may be
  // there.
  const bool not_made_yet = !view.read && view.trouble && view.trouble->code == ErrorCode::no_database;
  // Reading is tried again and again: told once, so that what was dismissed stays dismissed.
  const std::optional<Error> trouble = not_made_yet ? std::nullopt : view.trouble;
  if (trouble != shown_trouble_) {
    messages_.clear("runs");
    if (trouble) messages_.add(*trouble, "runs", now_);
    shown_trouble_ = trouble;
  }
  if (std::exchange(shown_changes_, view.changes_answered) == view.changes_answered) return;
  messages_.clear("change of a run");
  if (view.change_failed) messages_.add(*view.change_failed, "change of a run", now_);
}

bool Session::busy() const {
  return predicting() || calibrations_.reading() || !imports_.empty() || import_thread_.busy() ||
         runs_.busy() || !predictor_.idle() || doctor_.busy();
}

bool Session::settle(int rounds) {
  // What one reads can make another one begin: calibrations make a prediction stale.
  for (int round = 0; round < rounds; ++round) {
    calibrations_.wait();
    import_thread_.wait_until_done();
    update(now_);
    predictor_.wait_until_idle();
    runs_.loaded(selection_.runs());  // asks for those that are not there yet
    if (runs_.reader() != nullptr) runs_.reader()->settle();
    update(now_);  // what is predicted is examined
    doctor_.wait_until_done();
    update(now_);
    if (!predicting() && !calibrations_.reading()) {
      messages_.clear("settle");
      return true;
    }
  }
  messages_.add({MessageKind::warning,
                 fmt::format("still at work after {} rounds of reading and predicting", rounds),
                 "what is shown may be older than the text and the database", "settle", now_});
  return false;
}

}  // namespace shardlab::gui
