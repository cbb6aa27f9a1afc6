// The session's opening of whatever is dropped on the window.
#include <utility>

#include <fmt/format.h>

#include "engine/base/text/printable.h"
#include "engine/scenario/yaml_edit.h"
#include "gui/session/dropped_files.h"
#include "gui/session/session.h"
#include "gui/session/text_file.h"

namespace shardlab::gui {
namespace {

constexpr std::size_t k_most_lines = 5;  // of a message; all stand in the text

std::string names_of(const std::vector<std::filesystem::path>& files) {
  std::string names;
  for (const std::filesystem::path& file : files)
    names += (names.empty() ? "" : ", ") + printable(file.filename().string());
  return names;
}

Error unknown_files(const std::vector<std::filesystem::path>& files) {
  const Place place = files.size() == 1 ? in_file(printable(files.front().string())) : Place(names_of(files));
  return {ErrorKind::bad_input, place,
          files.size() == 1 ? "is nothing that the window can open" : "are nothing that the window can open",
          "scenarios (.yaml), configurations of accelerate, DeepSpeed, the Trainer and Axolotl, scripts that "
          "start ranks, a model's config.json, databases of runs (.db), traces of torch.profiler (.json, "
          ".json.gz), logs of jobs"};
}

}  // namespace

bool Session::open_any(const std::vector<std::filesystem::path>& files) {
  std::vector<std::filesystem::path> traces, configurations, unknown;
  std::optional<Error> mistake;
  bool all = true;
  for (const std::filesystem::path& file : files) {
    const DroppedFile dropped = examine_dropped(file);
    if (!mistake) mistake = dropped.mistake;
    switch (dropped.kind) {
      case DroppedKind::scenario: all = open(file) && all; break;
      case DroppedKind::model: all = open_model(file) && all; break;
      case DroppedKind::database: use_database(file); break;
      case DroppedKind::log: doctor_.read_log(file); break;
      case DroppedKind::trace: traces.push_back(file); break;
      case DroppedKind::configuration: configurations.push_back(file); break;
      case DroppedKind::unknown: unknown.push_back(file); break;
    }
  }
  if (!unknown.empty()) messages_.add(mistake ? *mistake : unknown_files(unknown), "file", now_);
  if (!traces.empty()) all = import_traces(std::move(traces)) && all;
  // Without the file that has the mistake the others are another case.
  if (!configurations.empty() && !mistake) import_configurations(std::move(configurations));
  return all && unknown.empty();
}

bool Session::open_model(const std::filesystem::path& file) {
  if (documents_opened_ > 0) return set("model.config", quoted_yaml(file.string()));
  const auto text = read_text_file(file);
  if (!text) {
    messages_.add(text.error(), "file", now_);
    return false;
  }
  auto scenario = scenario_around(*text, file);
  if (scenario) open_text(*std::move(scenario));
  return scenario.has_value();
}

void Session::import_configurations(std::vector<std::filesystem::path> files) {
  ConfigurationFiles asked{std::move(files), {}, {}};
  if (documents_opened_ > 0) {
    asked.open_file = file_name();
    asked.open_text = document_.text();
  }
  messages_.add({MessageKind::news, "reading " + names_of(asked.files) + " ...", {}, "import", now_});
  import_thread_.add([this, asked = std::move(asked)](const TaskThread::IsWanted&) -> TaskThread::Delivery {
    return [this, asked, imported = import_configuration(asked)] { take_import(asked, imported); };
  });
}

void Session::take_import(const ConfigurationFiles& asked, const Result<ImportedConfiguration>& imported) {
  const bool was_edited = !asked.open_file.empty() && asked.open_text != document_.text();
  if (was_edited) return import_configurations(asked.files);
  messages_.clear("import");
  for (const char* const topic : {"lost by the import", "warnings of the import"}) messages_.clear(topic);
  if (!imported) {
    messages_.add(imported.error(), "import", now_);
    return;
  }
  tell_import(*imported);
  become(imported->text, "import of " + names_of(asked.files));
}

void Session::tell_import(const ImportedConfiguration& imported) {
  const auto tell = [&](const char* head, const std::vector<std::string>& lines, const char* topic) {
    if (lines.empty()) return;
    messages_.add(
        {MessageKind::warning, head + first_lines(lines, k_most_lines), {}, std::string(topic), now_});
  };
  tell("What a scenario cannot say is lost:\n", imported.lost, "lost by the import");
  tell("To be known of the files:\n", imported.warnings, "warnings of the import");
  std::string text = imported.files + " became a new scenario";
  if (imported.is_put_onto) text += ", put onto " + printable(document_.title());
  const std::string others =
      imported.others == 0 ? ""
                           : fmt::format("; {} more notes stand at the head of its text", imported.others);
  messages_.add({MessageKind::news, std::move(text), "undo goes back" + others, "imported", now_});
}

bool Session::import_traces(std::vector<std::filesystem::path> files) {
  auto started = TraceImport::start(std::move(files), database(), program_);
  if (!started) {
    messages_.add(started.error(), "import", now_);
    return false;
  }
  messages_.add({MessageKind::news, "importing " + started->title() + " ...", {}, "import", now_});
  imports_.push_back(*std::move(started));
  return true;
}

void Session::poll_imports() {
  for (std::size_t i = 0; i < imports_.size();) {
    const auto done = imports_[i].poll();
    if (!done) {
      ++i;
      continue;
    }
    const std::string title = imports_[i].title();
    imports_.erase(imports_.begin() + static_cast<std::ptrdiff_t>(i));
    messages_.clear("import");
    if (*done) {
      messages_.add({MessageKind::news,
                     title + " is " + to_string(**done) + ": see Timeline and Compare",
                     {},
                     "imported",
                     now_});
      selection_.choose_runs({**done});
    } else {
      messages_.add(done->error(), "import", now_);
    }
  }
}

}  // namespace shardlab::gui
