#include <array>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/formats/tools/export_target.h"
#include "engine/report/summarize.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/setting_view.h"
#include "simulator/lessons/figure_list.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

Result<Value> setting(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string key, text_of(rest[0]));
  const SettingView view = view_setting(subject.planned->scenario, ScenarioSource{}, key);
  if (view.value.empty())
    return bad_input({}, fmt::format("'{}' is no key of a scenario", key), "docs/scenario.md");
  const auto number = parse_number(view.value);
  return number ? number_value(*number) : text_value(view.value);
}

Result<Value> of_device(const FigureSubject& subject, Result<Value> (*value)(const Device&)) {
  SHARDLAB_TRY(const Device device, resolve_device(subject.planned->scenario));
  return value(device);
}

Result<Value> difference_count(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string name, text_of(rest[0]));
  SHARDLAB_TRY(const DifferenceKind kind, word_of<DifferenceKind>(rest[1]));
  const ExportTarget* const target = find_export_target(name);
  if (target == nullptr) return bad_input({}, fmt::format("nothing is exported to '{}'", name));
  const ScenarioSource source;
  const ExportSubject exported{subject.planned->scenario, source, subject.planned->graph, "lesson"};
  double count = 0;
  for (const ExportDifference& difference : export_differences(*target, exported))
    count += difference.kind == kind;
  return number_value(count);
}

Result<Value> exports(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string name, text_of(rest[0]));
  const ExportTarget* const target = find_export_target(name);
  if (target == nullptr) return bad_input({}, fmt::format("nothing is exported to '{}'", name));
  const ScenarioSource source;
  const ExportSubject exported{subject.planned->scenario, source, subject.planned->graph, "lesson"};
  return truth_value(target->refuses(exported).why.empty());
}

Result<Value> refusal(const FigureSubject& subject, Rest) {
  if (subject.refusal == nullptr) return bad_input({}, "the scenario is not refused");
  std::string text = what_text(*subject.refusal);
  if (!subject.refusal->hint.empty()) text += " (" + subject.refusal->hint + ")";
  return text_value(text);
}

constexpr std::array k_scenarios_figures = {
    FigureFunction{"ranks", "a", 0, 0, "processes, one a device",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(world_size(subject.planned->scenario));
                   }},
    FigureFunction{"tokens", "a", 0, 0, "of a step, over all ranks and micro-batches",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(tokens_per_step(*subject.planned)));
                   }},
    FigureFunction{"setting", "a, key", 1, 1, "what the scenario says for a key", setting},
    FigureFunction{"limit", "a", 0, 0, "bytes that a rank may use of its device",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     if (subject.summary->memory_limit) return bytes_value(*subject.summary->memory_limit);
                     return not_possible({}, "no limit is known");
                   }},
    FigureFunction{"fits", "a", 0, 0, "yes, unsure or no, as a text",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     if (subject.summary->fits)
                       return text_value(std::string(to_string(*subject.summary->fits)));
                     return not_possible({}, "no limit is known");
                   }},
    FigureFunction{"dollars_per_hour", "a", 0, 0, "for all its GPUs, the middle of the price range",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return of_device(subject, [](const Device& device) -> Result<Value> {
                       if (device.dollars_per_hour)
                         return number_value(*device.dollars_per_hour * device.ranks);
                       return not_possible({}, "no price is known");
                     });
                   }},
    FigureFunction{"export_counts", "a, target, kind", 2, 2,
                   "settings that an export to a tool has `lost`, `added` or leaves `elsewhere`",
                   difference_count},
    FigureFunction{"exports", "a, target", 1, 1, "whether a tool can run it", exports},
    FigureFunction{"refusal", "a", 0, 0, "what the program says of a scenario that it refuses", refusal,
                   true},
};

}  // namespace

std::span<const FigureFunction> figures_of_scenarios() {
  return k_scenarios_figures;
}

}  // namespace shardlab::lessons
