#include "engine/formats/imports/import_case.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/accelerate/read_accelerate.h"
#include "engine/formats/axolotl/axolotl_arguments.h"
#include "engine/formats/deepspeed/read_deepspeed.h"
#include "engine/formats/imports/case_checks.h"
#include "engine/formats/imports/launched_arguments.h"
#include "engine/formats/imports/named_file.h"
#include "engine/formats/imports/named_model.h"
#include "engine/formats/imports/older_arguments.h"
#include "engine/formats/imports/program_arguments.h"
#include "engine/formats/imports/program_defaults.h"
#include "engine/formats/imports/program_fsdp.h"
#include "engine/formats/imports/program_meanings.h"
#include "engine/formats/imports/program_presets.h"
#include "engine/formats/launchers/launch_script.h"
#include "engine/formats/transformers/read_trainer.h"
#include "engine/scenario/mesh.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// The files of the case while they are put together, in the order in which one names the other.
class CaseReader {
 public:
  CaseReader(std::vector<ForeignFile> files, const ImportContext& context)
      : given_(std::move(files)), context_(context) {}

  Status read() {
    SHARDLAB_CHECK_OK(sort());
    SHARDLAB_CHECK_OK(read_script());
    SHARDLAB_CHECK_OK(read_trainer_file());
    SHARDLAB_CHECK_OK(read_accelerate_file());
    SHARDLAB_CHECK_OK(read_deepspeed_file());
    SHARDLAB_CHECK_OK(problems_.status());
    if (fsdp_section_)
      return fail({ErrorKind::bad_input, in_file(fsdp_section_->path.string()),
                   "is an fsdp_config, and no TrainingArguments name it",
                   "give the file that names it as well", ErrorCode::unsaid});
    prepare_subject();
    check();
    SHARDLAB_CHECK_OK(problems_.status());
    read_settings();
    return problems_.status();
  }

  ImportReading take_reading() { return std::move(reading_); }

  std::optional<ForeignEntry> named_model() const {
    const ForeignEntry* const entry = entry_of(own_, "model");
    const bool is_name = entry != nullptr && entry->value.is_text() && !entry->value.flag;
    return is_name ? std::optional(*entry) : std::nullopt;
  }

 private:
  Status sort() {
    for (ForeignFile& file : given_) {
      std::optional<ForeignFile>& slot = slot_of(file.kind);
      if (slot)
        return bad_input(in_file(file.path.string()),
                         fmt::format("is {}, and so is {}", to_string(file.kind), slot->path.string()),
                         "a case has one file of each kind");
      opened_.insert(identity(file.path));
      add_warnings(file);
      slot = std::move(file);
    }
    return {};
  }

  std::optional<ForeignFile>& slot_of(ForeignKind kind) {
    switch (kind) {
      case ForeignKind::deepspeed: return deepspeed_;
      case ForeignKind::accelerate: return accelerate_;
      case ForeignKind::trainer:
      case ForeignKind::axolotl: return trainer_;
      case ForeignKind::fsdp_section: return fsdp_section_;
      case ForeignKind::script: return script_;
    }
    return deepspeed_;
  }

  static std::string identity(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    return error ? path.string() : whole.string();
  }

  // A file that another one names: one of the given files of that name, else where the tool looks, else
  // beside the file that names it.
  Status find_named(const ForeignValue& name, ForeignKind kind) {
    std::optional<ForeignFile>& slot = slot_of(kind);
    if (const auto written = written_file(name); written && !slot) {
      SHARDLAB_TRY(ForeignFile file, *written);
      return take_named(name, kind, std::move(file));
    }
    const bool is_open = name.is_text() && name.flag;
    if (is_open && slot) return {};
    if (is_open)
      return bad_input(name.place, fmt::format("names {}, which is known when the script runs", name.text),
                       "give the file that is meant to import as well");
    const fs::path wanted = name.text;
    if (wanted.empty() || name.text.find('\0') != std::string::npos)
      return bad_input(name.place, "names no file");
    // "zero2" of ms-swift is a file of that name in the program.
    const bool is_bare = !wanted.has_extension() && !wanted.has_parent_path();
    if (slot && slot->path.filename() == wanted.filename()) return {};
    if (slot && is_bare && slot->path.stem() == wanted) return {};
    if (slot)
      return bad_input(name.place, fmt::format("names {}, and {} is given", name.text, slot->path.string()),
                       "give the file that is named, or none");
    const std::optional<fs::path> found = find_named_file(wanted, name, reading_);
    if (!found && kind == ForeignKind::deepspeed && is_deepspeed_preset(name.text)) return take_preset(name);
    if (!found)
      return bad_input(
          name.place, fmt::format("names {}, and there is no such file", name.text),
          is_bare ? fmt::format("where the program brings it, give its {}.json to import as well", name.text)
                  : "give it to import as well, or write its path from here");
    const fs::path path = *found;
    if (!opened_.insert(identity(path)).second)
      return bad_input(name.place,
                       fmt::format("names {}, which led here: files name each other in a circle", name.text));
    SHARDLAB_TRY(ForeignFile file, read_foreign_file(path));
    return take_named(name, kind, std::move(file));
  }

  Status take_preset(const ForeignValue& name) {
    ForeignFile file;
    file.kind = ForeignKind::deepspeed;
    file.path = fmt::format("{} of ms-swift", name.text);
    SHARDLAB_TRY(file.tree, deepspeed_preset(name));
    return take_named(name, ForeignKind::deepspeed, std::move(file));
  }

  Status take_named(const ForeignValue& name, ForeignKind kind, ForeignFile file) {
    if (file.kind == ForeignKind::trainer && kind == ForeignKind::fsdp_section) file.kind = kind;
    const bool takes_arguments = kind == ForeignKind::trainer && file.kind == ForeignKind::axolotl;
    if (file.kind != kind && !takes_arguments)
      return bad_input(name.place, fmt::format("names {}, which is {}, not {}", name.text,
                                               to_string(file.kind), to_string(kind)));
    add_warnings(file);
    slot_of(kind) = std::move(file);
    return {};
  }

  void add_warnings(const ForeignFile& file) {
    reading_.warnings.insert(reading_.warnings.end(), file.warnings.begin(), file.warnings.end());
  }

  // What the script writes itself before it starts the ranks; its lines are those of the script.
  std::optional<Result<ForeignFile>> written_file(const ForeignValue& name) const {
    if (!launch_ || !name.is_text()) return std::nullopt;
    const auto found = launch_->documents.find(shell_path(name.text));
    if (found == launch_->documents.end()) return std::nullopt;
    const ShellWord& body = found->second;
    const auto above = static_cast<std::size_t>(std::max(0, body.place.line - 1));
    return parse_foreign_file(std::string(above, '\n') + body.text, script_->path);
  }

  static bool is_trainer_file(const ForeignValue& name) {
    const auto file = read_foreign_file(name.text);
    return file && (file->kind == ForeignKind::trainer || file->kind == ForeignKind::axolotl);
  }

  void add_format(std::string_view format, std::string_view version, const fs::path& file) {
    for (const ImportedFormat& known : reading_.formats) {
      if (known.format == format && known.file == file.string()) return;
    }
    reading_.formats.push_back({std::string(format), std::string(version), file.string()});
  }

  Result<ForeignValue> checked(const ForeignValue& tree, std::string_view tool_name,
                               std::string_view section) {
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys(tool_name));
    CheckedKeys keys = check_keys(tree, *tool, section, problems_);
    reading_.warnings.insert(reading_.warnings.end(), keys.warnings.begin(), keys.warnings.end());
    return std::move(keys.tree);
  }

  Status read_script() {
    if (!script_) return {};
    SHARDLAB_TRY(launch_,
                 parse_launch_script(script_->text, script_->path.string(), script_->line, problems_));
    SHARDLAB_CHECK_OK(problems_.status());
    reading_.warnings.insert(reading_.warnings.end(), launch_->warnings.begin(), launch_->warnings.end());
    SHARDLAB_CHECK_OK(add_launcher_format());
    const LaunchedFiles named = files_named_by(*launch_);
    if (named.accelerate) SHARDLAB_CHECK_OK(find_named(*named.accelerate, ForeignKind::accelerate));
    if (named.trainer && (!named.may_be_another || is_trainer_file(*named.trainer)))
      SHARDLAB_CHECK_OK(find_named(*named.trainer, ForeignKind::trainer));
    if (named.deepspeed) SHARDLAB_CHECK_OK(find_named(*named.deepspeed, ForeignKind::deepspeed));
    return {};
  }

  Status add_launcher_format() {
    if (launch_->is_batch) add_format("slurm", "", script_->path);
    if (launch_->launcher == RankStarter::own) {
      add_format(launch_->program, "", script_->path);
      return {};
    }
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys(to_string(launch_->launcher)));
    add_format(to_string(launch_->launcher), tool->version, script_->path);
    return {};
  }

  Status read_trainer_file() {
    SHARDLAB_TRY(ForeignValue arguments, arguments_of_file());
    if (launch_) SHARDLAB_CHECK_OK(add_launched_arguments(*launch_, arguments, own_, problems_, reading_));
    if (arguments.entries.empty() && !trainer_) return {};
    add_program_defaults(launch_ ? launch_->program : std::string(), own_, arguments, reading_);
    SHARDLAB_CHECK_OK(join_program_fsdp(launch_ ? launch_->program : std::string(), arguments, reading_));
    const bool is_older = rename_old_arguments(arguments, reading_);
    const std::string_view version = is_older ? "transformers-4" : trainer_version(arguments, problems_);
    SHARDLAB_TRY(trainer_tree_, checked(arguments, version, "root"));
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys(version));
    subject_.trainer_is_4 = tool->version.starts_with("4");
    add_format("transformers", tool->version, trainer_ ? trainer_->path : script_->path);
    SHARDLAB_CHECK_OK(join_fsdp_section(version));
    join_old_arguments(*trainer_tree_);
    return join_deepspeed_of_trainer();
  }

  // Other arguments of the file go to those of the program's own.
  Result<ForeignValue> arguments_of_file() {
    if (!trainer_) return foreign_map({});
    ForeignValue arguments = trainer_->tree;
    if (trainer_->kind == ForeignKind::axolotl) {
      SHARDLAB_TRY(const ForeignValue tree, checked(arguments, "axolotl", "root"));
      SHARDLAB_TRY(const KnownKeys* const tool, known_keys("axolotl"));
      add_format("axolotl", tool->version, trainer_->path);
      AxolotlArguments said = axolotl_arguments(tree, context_.model_class, reading_);
      own_ = std::move(said.own);
      return std::move(said.arguments);
    }
    move_program_arguments(arguments, own_);
    if (trainer_->path.extension() != ".json") read_text_numbers(arguments, reading_);
    return arguments;
  }

  // `fsdp_config` as a path is replaced by what stands in the file.
  Status join_fsdp_section(std::string_view version) {
    for (ForeignEntry& entry : trainer_tree_->entries) {
      static constexpr std::string_view k_key = "fsdp_config";
      if (k_key.compare(entry.key) != 0 || !entry.value.is_text()) continue;
      ForeignValue map;
      if (entry.value.text.starts_with('{')) {
        SHARDLAB_TRY(map, parse_foreign_json(entry.value.text, entry.value.place.file, JsonForm::strict));
      } else {
        if (!entry.value.text.ends_with(".json"))
          reading_.warnings.push_back(
              {entry.value.place,
               fmt::format("the Trainer reads {} as JSON, whatever its name", entry.value.text),
               "accelerate's own YAML is for `accelerate launch --config_file`", ErrorCode::another_format});
        SHARDLAB_CHECK_OK(find_named(entry.value, ForeignKind::fsdp_section));
        auto json = parse_foreign_json(fsdp_section_->text, fsdp_section_->path.string(), JsonForm::strict);
        if (!json) {
          json.error().hint = "the Trainer reads the file that fsdp_config names as JSON, whatever its name";
          json.error().code = ErrorCode::another_format;
          return fail(json.error());
        }
        map = *std::move(json);
        fsdp_section_.reset();
      }
      SHARDLAB_TRY(entry.value, checked(map, version, "fsdp_config"));
    }
    return {};
  }

  Status join_deepspeed_of_trainer() {
    const ForeignValue* const named = trainer_tree_->find("deepspeed");
    if (named == nullptr || named->is_null()) return {};
    named_by_hf_ = true;
    if (named->is_text() && !named->text.starts_with('{')) return find_named(*named, ForeignKind::deepspeed);
    if (deepspeed_)
      return bad_input(named->place, fmt::format("holds DeepSpeed's configuration, and {} is given",
                                                 deepspeed_->path.string()));
    ForeignFile inner;
    inner.path = named->place.file;
    inner.tree = *named;
    if (named->is_text()) {
      SHARDLAB_TRY(inner.tree, parse_foreign_json(named->text, named->place.file, JsonForm::strict));
    }
    deepspeed_ = std::move(inner);
    return {};
  }

  Status read_accelerate_file() {
    ForeignValue tree = accelerate_ ? accelerate_->tree : foreign_map({});
    if (launch_ && launch_->launcher == RankStarter::accelerate)
      SHARDLAB_CHECK_OK(add_launch_options(*launch_, tree, problems_, reading_));
    if (tree.entries.empty() && !accelerate_) return {};
    SHARDLAB_TRY(accelerate_tree_, checked(tree, "accelerate", "root"));
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys("accelerate"));
    const fs::path file = accelerate_ ? accelerate_->path : script_->path;
    if (accelerate_tree_->place.empty()) accelerate_tree_->place = in_file(file.string());
    add_format("accelerate", tool->version, file);
    subject_.accelerate = &*accelerate_tree_;
    const ForeignValue* const named = deepspeed_file_key(subject_);
    if (named == nullptr) return {};
    named_by_hf_ = true;
    return find_named(*named, ForeignKind::deepspeed);
  }

  Status read_deepspeed_file() {
    if (!deepspeed_) return {};
    ForeignValue tree = deepspeed_->tree;
    // Accelerate and the Trainer read plain JSON, DeepSpeed's own loader the human form.
    if (named_by_hf_ && !deepspeed_->text.empty()) {
      auto strict = parse_foreign_json(deepspeed_->text, deepspeed_->path.string(), JsonForm::strict);
      if (!strict) {
        Error error = strict.error();
        error.hint = "accelerate and the Trainer read plain JSON; comments are for DeepSpeed's own loader" +
                     (error.hint.empty() ? std::string() : "; " + error.hint);
        return fail(std::move(error));
      }
    }
    SHARDLAB_TRY(deepspeed_tree_, checked(tree, "deepspeed", "root"));
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys("deepspeed"));
    add_format("deepspeed", tool->version, deepspeed_->path);
    return {};
  }

  void prepare_subject() {
    subject_.onto = context_.onto;
    subject_.hidden_size = context_.hidden_size;
    subject_.layer_class = context_.layer_class;
    if (accelerate_tree_) subject_.accelerate = &*accelerate_tree_;
    if (trainer_tree_) subject_.trainer = &*trainer_tree_;
    subject_.has_program = !own_.entries.empty();
    subject_.calls_deepspeed = launch_ && calls_deepspeed(*launch_);
    if (launch_ && launch_->launcher == RankStarter::accelerate) subject_.command = &launch_->options;
    subject_.ranks = ranks();
    if (!deepspeed_tree_ && accelerate_tree_ && accelerate_kind(subject_) == AccelerateKind::deepspeed)
      deepspeed_tree_ = plugin_config(subject_);
    if (deepspeed_tree_) subject_.deepspeed = &*deepspeed_tree_;
  }

  std::optional<std::int64_t> ranks() const {
    if (accelerate_tree_) {
      if (const auto all = processes(subject_)) return all;
    }
    if (launch_) {
      const ImportedRanks launched = launched_ranks(*launch_);
      if (launched.per_node) return launched.nodes.value_or(1) * *launched.per_node;
    }
    if (context_.onto != nullptr) return world_size(*context_.onto);
    return context_.ranks;
  }

  void check() {
    check_two_systems(subject_, deepspeed_ && !named_by_hf_ ? &deepspeed_->path : nullptr, problems_);
    if (subject_.accelerate != nullptr) check_accelerate(subject_, problems_, reading_);
    if (subject_.trainer != nullptr) check_trainer(subject_, problems_, reading_);
    if (subject_.deepspeed != nullptr) check_deepspeed(subject_, problems_, reading_);
    if (launch_) check_launched_ranks(*launch_, subject_, problems_);
  }

  void read_settings() {
    if (subject_.accelerate != nullptr) read_accelerate(subject_, reading_);
    if (subject_.deepspeed != nullptr) read_deepspeed(subject_, reading_);
    if (subject_.trainer != nullptr) read_trainer(subject_, reading_);
    read_program_arguments(own_, reading_);
    if (launch_) read_launch_script(*launch_, subject_, reading_);
    reading_.by_trainer = subject_.trainer != nullptr;
    if (subject_.deepspeed != nullptr)
      reading_.target = "deepspeed";
    else if (trainer_has_fsdp(subject_) || (subject_.trainer != nullptr && subject_.accelerate == nullptr))
      reading_.target = "transformers";
    else if (subject_.accelerate != nullptr)
      reading_.target = "accelerate";
  }

  std::vector<ForeignFile> given_;
  const ImportContext& context_;
  std::optional<ForeignFile> deepspeed_, accelerate_, trainer_, fsdp_section_, script_;
  std::optional<LaunchScript> launch_;
  ForeignValue own_ = foreign_map({});  // arguments of the program's own
  std::optional<ForeignValue> deepspeed_tree_, accelerate_tree_, trainer_tree_;
  std::set<std::string> opened_;
  bool named_by_hf_ = false;
  ImportSubject subject_;
  ImportReading reading_;
  Problems problems_;
};

}  // namespace

Result<ImportReading> import_case(std::vector<ForeignFile> files, const ImportContext& context) {
  CaseReader reader(std::move(files), context);
  SHARDLAB_CHECK_OK(reader.read());
  return reader.take_reading();
}

CaseReading examine_files(std::span<const fs::path> files, const ImportContext& context) {
  std::vector<ForeignFile> read;
  for (const fs::path& path : files) {
    auto file = read_foreign_file(path);
    if (!file) return {{}, std::move(file).error()};
    read.push_back(*std::move(file));
  }
  CaseReader reader(std::move(read), context);
  const Status status = reader.read();
  return {reader.take_reading(), status ? std::nullopt : std::optional(status.error())};
}

std::optional<ForeignEntry> named_model(std::span<const fs::path> files, const ImportContext& context) {
  std::vector<ForeignFile> read;
  for (const fs::path& path : files) {
    auto file = read_foreign_file(path);
    if (!file) return std::nullopt;
    read.push_back(*std::move(file));
  }
  CaseReader reader(std::move(read), context);
  const Status ended = reader.read();  // a mistake is told where the case is read for its settings
  static_cast<void>(ended);
  return reader.named_model();
}

Result<ImportReading> import_files(std::span<const fs::path> files, const ImportContext& context) {
  CaseReading read = examine_files(files, context);
  if (read.error) return fail(*std::move(read.error));
  return std::move(read.reading);
}

}  // namespace shardlab
