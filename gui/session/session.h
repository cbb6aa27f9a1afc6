// The window's state: the scenario being edited, its prediction, what is chosen, and what is told.
//
// Knows no ImGui. Belongs to the frame's thread; update() is called once a frame and never blocks.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/session/calibration_source.h"
#include "gui/session/doctor.h"
#include "gui/session/document.h"
#include "gui/session/file_watch.h"
#include "gui/session/imported_configuration.h"
#include "gui/session/messages.h"
#include "gui/session/prediction.h"
#include "gui/session/predictor.h"
#include "gui/session/preferences.h"
#include "gui/session/selection.h"
#include "gui/session/task_thread.h"
#include "gui/session/trace_import.h"
#include "gui/view_model/run_library.h"
#include "gui/view_model/words/word_links.h"

namespace shardlab::gui {

class Session {
 public:
  // `wake` is called from other threads when there is something to draw; may be empty.
  explicit Session(std::function<void()> wake = {});

  // --- the scenario. Failures become messages; the functions then return false.
  bool open(const std::filesystem::path& file);
  // What a person drops on the window (dropped_files.h): a scenario, a config.json (it becomes the scenario's
  // model; without a scenario, that of a new one), a database of runs, a log. Traces of a profiler that are
  // dropped together are the ranks of one run; once it is stored it is the chosen one. Configurations of
  // other tools that are dropped together are one case: soon after they are the document, with undo.
  bool open_any(const std::vector<std::filesystem::path>& files);
  void open_text(std::string text, std::filesystem::path file = {});
  // Another document, never saved; undo leads back to the one that was open. `what` names it there.
  void become(std::string text, std::string what);
  bool save();
  bool save_as(const std::filesystem::path& file);
  // A setting in its dotted form, the value in YAML; an error of the value itself is shown where it is used.
  bool set(std::string_view key, std::string_view value);
  bool unset(std::string_view key);
  // Several settings as for --set, as one edit.
  bool set_all(const std::vector<std::string>& settings);
  void edit_text(std::string text, std::string what = "text");
  void undo();
  void redo();
  const Document& document() const { return document_; }
  // What stands for the document in messages: its file, or a name that says there is none.
  std::string file_name() const;
  // Counts opened documents, so that a panel with a copy of the text knows when it is another one's.
  std::uint64_t documents_opened() const { return documents_opened_; }

  // --- what it gives. The newest prediction there is, which may be of an older text (stale); null: none yet.
  const std::shared_ptr<const Prediction>& prediction() const { return prediction_; }
  // What single keys would change about the prediction; empty while that is not known.
  const std::vector<Alternative>& alternatives() const { return alternatives_.alternatives; }
  // What its peak of memory is made of, once somebody asked for it; null while that is not known. `whole`:
  // with the settings that would lower it.
  void explain_memory() { predictor_.explain_memory_too(); }
  const PredictedMemory& explained_memory() const { return memory_; }
  bool stale() const { return !prediction_ || prediction_->revision != request_revision_; }
  bool predicting() const { return answered_revision_ != request_revision_; }
  // What is wrong with it, once somebody asked, and with logs that were given.
  Doctor& doctor() { return doctor_; }
  const Doctor& doctor() const { return doctor_; }
  // Whether the newest findings are of an older text.
  bool findings_are_stale() const {
    return !doctor_.scenario() || doctor_.scenario()->revision != request_revision_;
  }
  // Why the present text gives none.
  const std::optional<Error>& problem() const { return problem_; }

  // --- the baseline: a prediction that is kept, so that every edit shows its effect against it. It stays
  // while other documents are opened. Without a prediction nothing is kept.
  void set_baseline();
  void clear_baseline();
  // Null while none is set.
  const view::LoadedRunPtr& baseline() const { return baseline_; }
  // Whether the present prediction is another one than the baseline.
  bool left_baseline() const { return baseline_ && prediction_ && prediction_->run != baseline_of_; }

  // --- the database of runs, read on threads of their own; trouble with it becomes a message.
  void use_database(std::filesystem::path file);
  const std::filesystem::path& database() const { return calibrations_.database(); }
  // The calibrations in it, newest first, as predictions are made with them.
  const std::vector<std::string>& calibrations() const { return calibrations_.texts(); }
  // The database as panels read it.
  view::RunLibrary& runs() { return runs_; }
  // The prediction as a run among others; null while there is none.
  view::LoadedRunPtr predicted_run() const { return prediction_ ? prediction_->run : nullptr; }
  // What is compared: the prediction, the baseline once that is another one, then the chosen runs as far as
  // they are loaded.
  std::vector<view::LoadedRunPtr> shown_runs();

  // Runs that are compared in place of those, such as scenarios of a lesson; empty: none.
  void lay_side_by_side(std::vector<view::LoadedRunPtr> runs) { side_by_side_ = std::move(runs); }
  // What Compare shows: those that are laid side by side, the prediction where it is of none of them, and the
  // chosen runs; else shown_runs().
  std::vector<view::LoadedRunPtr> compared_runs();

  // shardlab, which real runs are started with; empty: the one beside this program.
  void use_program(std::filesystem::path program) { program_ = std::move(program); }
  const std::filesystem::path& program() const { return program_; }

  // Words of the glossary in the texts of panels and messages.
  view::WordLinks& words() { return words_; }

  Selection& selection() { return selection_; }
  const Selection& selection() const { return selection_; }
  // Instructions are chosen in the steady plan of the present prediction.
  void choose(InstructionId id);
  std::optional<InstructionId> chosen() const;

  Messages& messages() { return messages_; }
  Preferences& preferences() { return preferences_; }
  const Preferences& preferences() const { return preferences_; }
  double now() const { return now_; }

  // Takes what other threads have ready. `now` in seconds, growing.
  void update(double now);
  // Whether threads still make what will be shown: predictions and what follows them, runs, imports.
  bool busy() const;
  // Waits until the present text is predicted and the chosen runs are read; for pictures and tests. One
  // result can make another necessary: after so many rounds it gives up, which is false and a message.
  bool settle(int rounds = 4);

 private:
  void ask();
  void take(PredictionOutcome outcome);
  void watch_file();
  void tell_of_library();
  void begin_document();
  void follow_history(std::size_t home_before);
  bool open_model(const std::filesystem::path& file);
  bool import_traces(std::vector<std::filesystem::path> files);
  void poll_imports();
  void import_configurations(std::vector<std::filesystem::path> files);
  void take_import(const ConfigurationFiles& asked, const Result<ImportedConfiguration>& imported);
  void tell_import(const ImportedConfiguration& imported);

  Document document_;
  std::uint64_t documents_opened_ = 0;
  FileWatch watch_;
  CalibrationSource calibrations_;
  view::RunLibrary runs_;
  Predictor predictor_;
  Doctor doctor_;
  std::filesystem::path program_;
  std::uint64_t request_revision_ = 0;  // counts requests: another text or other calibrations
  std::uint64_t answered_revision_ = 0;
  std::shared_ptr<const Prediction> prediction_;
  PredictedAlternatives alternatives_;
  PredictedMemory memory_;
  std::optional<Error> problem_;
  view::LoadedRunPtr baseline_, baseline_of_;  // as it is shown; the prediction that it was
  std::vector<view::LoadedRunPtr> side_by_side_;
  std::uint64_t shown_revision_ = 0;    // what was known of the database when it was last told
  std::optional<Error> shown_trouble_;  // with the database
  std::uint64_t shown_changes_ = 0;     // changes to runs: tags and notes
  std::vector<TraceImport> imports_;
  view::WordLinks words_;
  Selection selection_;
  Messages messages_;
  Preferences preferences_;
  double now_ = 0;
  TaskThread import_thread_;  // last: what it delivers knows all of this
};

}  // namespace shardlab::gui
