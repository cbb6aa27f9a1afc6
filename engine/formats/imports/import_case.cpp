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
#include "engine/formats/deepspeed/read_deepspeed.h"
#include "engine/formats/imports/launched_arguments.h"
#include "engine/formats/imports/program_arguments.h"
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

  Result<ImportReading> read() {
    SHARDLAB_CHECK_OK(sort());
    SHARDLAB_CHECK_OK(read_script());
    SHARDLAB_CHECK_OK(read_trainer_file());
    SHARDLAB_CHECK_OK(read_accelerate_file());
    SHARDLAB_CHECK_OK(read_deepspeed_file());
    SHARDLAB_CHECK_OK(problems_.status());
    if (fsdp_section_)
      return bad_input(in_file(fsdp_section_->path.string()),
                       "is an fsdp_config, and no TrainingArguments name it",
                       "give the file that names it as well");
    prepare_subject();
    check();
    SHARDLAB_CHECK_OK(problems_.status());
    read_settings();
    SHARDLAB_CHECK_OK(problems_.status());
    return std::move(reading_);
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
      slot = std::move(file);
    }
    return {};
  }

  std::optional<ForeignFile>& slot_of(ForeignKind kind) {
    switch (kind) {
      case ForeignKind::deepspeed: return deepspeed_;
      case ForeignKind::accelerate: return accelerate_;
      case ForeignKind::trainer: return trainer_;
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
    fs::path path = wanted;
    std::error_code error;
    const fs::path beside = fs::path(name.place.file).parent_path() / wanted;
    if (!fs::exists(path, error) && fs::exists(beside, error)) {
      path = beside;
      reading_.warnings.push_back(
          {name.place,
           fmt::format("{} lies beside this file, the tool looks in the folder that it is started in",
                       name.text),
           "start it there, or give the whole path"});
    }
    if (!fs::exists(path, error))
      return bad_input(
          name.place, fmt::format("names {}, and there is no such file", name.text),
          is_bare ? fmt::format("where the program brings it, give its {}.json to import as well", name.text)
                  : "give it to import as well, or write its path from here");
    if (!opened_.insert(identity(path)).second)
      return bad_input(name.place,
                       fmt::format("names {}, which led here: files name each other in a circle", name.text));
    SHARDLAB_TRY(ForeignFile file, read_foreign_file(path));
    return take_named(name, kind, std::move(file));
  }

  Status take_named(const ForeignValue& name, ForeignKind kind, ForeignFile file) {
    if (file.kind == ForeignKind::trainer && kind == ForeignKind::fsdp_section) file.kind = kind;
    if (file.kind != kind)
      return bad_input(name.place, fmt::format("names {}, which is {}, not {}", name.text,
                                               to_string(file.kind), to_string(kind)));
    slot_of(kind) = std::move(file);
    return {};
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
    return file && file->kind == ForeignKind::trainer;
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
    if (launch_->launcher == RankStarter::own) {
      add_format(launch_->is_batch ? "slurm" : launch_->program, "", script_->path);
      return {};
    }
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys(to_string(launch_->launcher)));
    add_format(launch_->is_batch ? "slurm" : to_string(launch_->launcher), tool->version, script_->path);
    return {};
  }

  // YAML 1.1 reads 1e-5 as text. HfArgumentParser leaves it so, and training ends there; parsers of programs
  // (TrlParser, OmegaConf) make the number of it.
  void read_text_numbers(ForeignValue& arguments) {
    if (!trainer_ || trainer_->path.extension() == ".json") return;
    for (ForeignEntry& entry : arguments.entries) {
      if (!entry.value.is_text() || !is_number_argument(entry.key)) continue;
      auto number = python_number(entry.value.text, false);
      if (!number) continue;
      reading_.warnings.push_back(
          {entry.value.place,
           fmt::format(
               "{}: '{}' is text in YAML, which the Trainer alone cannot train with; read as the number",
               entry.key, entry.value.text),
           fmt::format("write {}", yaml_number(entry.value.text, number->number))});
      number->place = entry.value.place;
      entry.value = *std::move(number);
    }
  }

  // Names of older versions of transformers, as what they are called since. Whether there were some.
  bool rename_old_arguments(ForeignValue& arguments) {
    const auto tool = known_keys("transformers-4");
    if (!tool) return false;
    const auto& renamed = (*tool)->section("root").renamed;
    bool found = false;
    for (ForeignEntry& entry : arguments.entries) {
      const bool is_word = entry.value.is_text();
      const auto name = renamed.find(entry.key);
      const auto word = is_word ? renamed.find(entry.key + "=" + entry.value.text) : renamed.end();
      const auto row = name != renamed.end() ? name : word;
      if (row == renamed.end()) continue;
      const std::size_t comma = row->second.find(", ");
      const std::string now = row->second.substr(0, comma);
      reading_.warnings.push_back({entry.place,
                                   fmt::format("'{}' is read as '{}': {} and later refuse it", row->first,
                                               now, row->second.substr(comma + 2)),
                                   fmt::format("write '{}' for these", now)});
      found = found || name != renamed.end();
      (name != renamed.end() ? entry.key : entry.value.text) = now;
    }
    return found;
  }

  Status read_trainer_file() {
    ForeignValue arguments = trainer_ ? trainer_->tree : foreign_map({});
    move_program_arguments(arguments, own_);
    read_text_numbers(arguments);
    if (launch_) SHARDLAB_CHECK_OK(add_launched_arguments(*launch_, arguments, own_, problems_, reading_));
    if (arguments.entries.empty() && !trainer_) return {};
    add_program_defaults(launch_ ? launch_->program : std::string(), own_, arguments, reading_);
    const bool is_older = rename_old_arguments(arguments);
    const std::string_view version = is_older ? "transformers-4" : trainer_version(arguments, problems_);
    SHARDLAB_TRY(trainer_tree_, checked(arguments, version, "root"));
    SHARDLAB_TRY(const KnownKeys* const tool, known_keys(version));
    subject_.trainer_is_4 = tool->version.starts_with("4");
    add_format("transformers", tool->version, trainer_ ? trainer_->path : script_->path);
    SHARDLAB_CHECK_OK(join_fsdp_section(version));
    join_old_arguments();
    return join_deepspeed_of_trainer();
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
               "accelerate's own YAML is for `accelerate launch --config_file`"});
        SHARDLAB_CHECK_OK(find_named(entry.value, ForeignKind::fsdp_section));
        auto json = parse_foreign_json(fsdp_section_->text, fsdp_section_->path.string(), JsonForm::strict);
        if (!json) {
          json.error().hint = "the Trainer reads the file that fsdp_config names as JSON, whatever its name";
          return fail(json.error());
        }
        map = *std::move(json);
        fsdp_section_.reset();
      }
      SHARDLAB_TRY(entry.value, checked(map, version, "fsdp_config"));
    }
    return {};
  }

  // Version 4 has two keys of fsdp_config as arguments of their own.
  void join_old_arguments() {
    static constexpr std::pair<std::string_view, std::string_view> k_old[] = {
        {"fsdp_transformer_layer_cls_to_wrap", "transformer_layer_cls_to_wrap"},
        {"fsdp_min_num_params", "min_num_params"}};
    for (const auto& [old, now] : k_old) {
      const ForeignValue* const said = trainer_tree_->find(old);
      if (said == nullptr || said->is_null()) continue;
      ForeignValue value = *said;
      const ForeignValue* const section = trainer_tree_->find("fsdp_config");
      if (section == nullptr || !section->is_map())
        trainer_tree_->entries.push_back({"fsdp_config", value.place, foreign_map(value.place)});
      for (ForeignEntry& entry : trainer_tree_->entries) {
        static constexpr std::string_view k_section = "fsdp_config";
        if (k_section.compare(entry.key) == 0 && entry.value.is_map())
          entry.value.entries.push_back({std::string(now), value.place, std::move(value)});
      }
    }
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
    subject_.ranks = ranks();
    if (!deepspeed_tree_ && accelerate_tree_ && accelerate_kind(subject_) == AccelerateKind::deepspeed) {
      deepspeed_tree_ = plugin_config(subject_);
      by_plugin_ = true;
    }
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
    return std::nullopt;
  }

  void check() {
    check_two_systems();
    if (subject_.accelerate != nullptr) check_accelerate(subject_, problems_, reading_);
    if (subject_.trainer != nullptr) check_trainer(subject_, problems_, reading_);
    if (subject_.deepspeed != nullptr) check_deepspeed(subject_, problems_, reading_);
    check_launched_ranks();
  }

  void check_two_systems() {
    if (subject_.deepspeed == nullptr) return;
    const std::string zero = to_string(subject_.deepspeed->place);
    if (trainer_has_fsdp(subject_))
      problems_.add(subject_.in_trainer("fsdp")->place,
                    "two sharding systems at once: fsdp stands beside DeepSpeed's configuration",
                    "DeepSpeed is at " + zero);
    else if (subject_.accelerate != nullptr && accelerate_kind(subject_) == AccelerateKind::fsdp)
      problems_.add(
          subject_.in_accelerate("distributed_type")->place,
          "two sharding systems at once: distributed_type FSDP stands beside DeepSpeed's configuration",
          "DeepSpeed is at " + zero);
    else if (subject_.accelerate != nullptr && accelerate_kind(subject_) != AccelerateKind::deepspeed &&
             subject_.in_accelerate("distributed_type") != nullptr && subject_.trainer == nullptr)
      problems_.add(subject_.in_accelerate("distributed_type")->place,
                    "DeepSpeed's configuration is given, and distributed_type is another",
                    "distributed_type: DEEPSPEED");
    else if (deepspeed_ && subject_.accelerate != nullptr &&
             accelerate_kind(subject_) == AccelerateKind::deepspeed && !named_by_hf_)
      problems_.add(subject_.in_accelerate("distributed_type")->place,
                    fmt::format("nothing names {}: the DeepSpeed plugin makes a configuration of its own",
                                deepspeed_->path.string()),
                    "deepspeed_config: {deepspeed_config_file: PATH} names it");
  }

  void check_launched_ranks() {
    if (!launch_ || launch_->launcher == RankStarter::accelerate || subject_.accelerate == nullptr) return;
    const ImportedRanks launched = launched_ranks(*launch_);
    const auto all = processes(subject_);
    if (!launched.per_node || !all || launched.nodes.value_or(1) * *launched.per_node == *all) return;
    problems_.add(launch_->place,
                  fmt::format("starts {} ranks, the accelerate file says num_processes {}",
                              launched.nodes.value_or(1) * *launched.per_node, *all),
                  "the same number in both");
  }

  void read_settings() {
    if (subject_.accelerate != nullptr) read_accelerate(subject_, reading_);
    if (subject_.deepspeed != nullptr) read_deepspeed(subject_, reading_);
    if (subject_.trainer != nullptr) read_trainer(subject_, reading_);
    read_program_arguments(own_, reading_);
    if (launch_) read_launch_script(*launch_, subject_, reading_);
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
  bool by_plugin_ = false;
  ImportSubject subject_;
  ImportReading reading_;
  Problems problems_;
};

}  // namespace

Result<ImportReading> import_case(std::vector<ForeignFile> files, const ImportContext& context) {
  return CaseReader(std::move(files), context).read();
}

Result<ImportReading> import_files(std::span<const fs::path> files, const ImportContext& context) {
  std::vector<ForeignFile> read;
  for (const fs::path& path : files) {
    SHARDLAB_TRY(ForeignFile file, read_foreign_file(path));
    read.push_back(std::move(file));
  }
  return import_case(std::move(read), context);
}

}  // namespace shardlab
