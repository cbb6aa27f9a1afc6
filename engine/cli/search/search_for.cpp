#include "engine/cli/search/search_for.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "engine/base/hash.h"
#include "engine/base/output_file.h"
#include "engine/base/version.h"
#include "engine/cli/predict.h"
#include "engine/cli/progress_line.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/paths/repeatable_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/unsupported.h"
#include "simulator/search/equal_candidates.h"
#include "simulator/search/question/default_knobs.h"
#include "simulator/search/question/read_question.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

constexpr std::size_t k_mended = 3;

std::string id_of(const SearchQuestion& question) {
  std::string text(program_version());
  text += question.file + question.base.text;
  for (const std::string& each : question.base.overrides) text += "\n" + each;
  for (const Knob& knob : question.knobs)
    for (const Choice& choice : knob.choices)
      for (const std::string& each : choice.settings) text += "\n" + each;
  return hash_hex(text).substr(0, 12);
}

// Only numbers have a largest.
Status check_largest(const SearchQuestion& question, const std::string& key) {
  const auto knob = std::find_if(question.knobs.begin(), question.knobs.end(),
                                 [&](const Knob& each) { return each.key == key; });
  if (knob == question.knobs.end())
    return bad_input("--largest", key + " is turned by no knob of this search", "vary it in the file");
  for (const Choice& choice : knob->choices) {
    if (!number_given(choice.settings, key))
      return bad_input("--largest", fmt::format("{} has a choice that is no number: {}", key, choice.shown),
                       "name a key of numbers, sizes or times, such as train.micro_batch");
  }
  return {};
}

Result<SearchOptions> options_of(const SearchSettings& settings, const SearchQuestion& question) {
  SearchOptions options;
  options.exhaustive = settings.exhaustive;
  options.best = static_cast<std::size_t>(std::max(2, settings.best));
  options.threads = settings.threads > 0
                        ? settings.threads
                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (settings.seconds > 0) options.seconds = settings.seconds;
  if (settings.fewest_gpus) options.orders.push_back({SearchObjective::gpus, {}});
  if (!settings.largest.empty()) {
    SHARDLAB_CHECK_OK(check_largest(question, settings.largest));
    options.orders.push_back({SearchObjective::time, settings.largest});
  }
  return options;
}

// A place that was asked for must do; beside a file that ships with the program nothing can be written.
Status open_results(const SearchSettings& settings, Console& console, ResultFile& kept) {
  if (settings.no_store) return {};
  if (!settings.results.empty()) return kept.open(settings.results);
  const Status opened = kept.open(settings.file + ".results");
  if (!opened) console.note(fmt::format("nothing is kept: {}", to_string(opened.error())));
  return {};
}

// Then host memory is turned to, where the program chooses what is turned.
bool lacks_memory_everywhere(const SearchQuestion& question, const SearchResult& result) {
  const auto lacks = [](const Candidate& candidate) {
    return std::any_of(candidate.misses.begin(), candidate.misses.end(),
                       [](const Miss& miss) { return miss.of_memory; });
  };
  return question.knobs_chosen && *question.base.scenario.offload == OffloadSpec() &&
         result.answers.empty() && result.space.open == 0 && !result.nearest.empty() &&
         std::all_of(result.nearest.begin(), result.nearest.end(), lacks);
}

// What is reckoned about the answers besides: neighbours, other hardware, mends, a question why.
Status look_around(const SearchSpace& space, Evaluator& evaluator, const SearchSettings& settings,
                   int threads, SearchReport& report) {
  const Leader* const leader = leader_of(report);
  if (leader != nullptr) {
    SHARDLAB_TRY(report.neighbours, one_step_away(space, evaluator, answer_of(report, *leader), threads));
    SHARDLAB_TRY(report.hardware, on_other_hardware(space, evaluator, report.result, *leader, threads));
  }
  for (const Candidate& each : report.result.nearest) {
    if (report.nearest.size() == k_mended) break;
    SHARDLAB_TRY(std::optional<Mend> mend, cheapest_mend(space, evaluator, each));
    report.nearest.push_back({each, std::move(mend)});
  }
  if (settings.why.empty()) return {};
  if (leader == nullptr && report.result.nearest.empty())
    return bad_input("--why", "nothing was simulated that the settings could be laid upon");
  const Candidate& answer = leader != nullptr ? *leader->best : report.result.nearest.front();
  SHARDLAB_TRY(report.why, why_not(space, evaluator, answer, settings.why));
  report.why->upon = leader != nullptr ? "the best for " + order_words(leader->order) : "the nearest miss";
  return {};
}

}  // namespace

void add_search_options(OptionParser& parser, SearchSettings& settings) {
  parser.value("file", settings.file, "Search file").type("FILE").required();
  parser.value("--threads", settings.threads, "Threads [as many as the machine has]; the answer is the same")
      .type("N")
      .positive();
  parser.value("--seconds", settings.seconds, "Stop after that long with the best so far")
      .type("N")
      .positive();
  parser.flag("--exhaustive", settings.exhaustive,
              "Simulate what bounds would leave out: the answer is the same");
  parser.value("--results", settings.results, "Where simulated results are kept [FILE.results]").type("FILE");
  parser.flag("--no-store", settings.no_store, "Keep no results");
  parser.flag("--no-calibration", settings.no_calibration,
              "Figures of data sheets, even where a GPU was calibrated");
}

Result<int> search_for(CommandContext& context, const SearchSettings& settings,
                       const std::function<Result<int>(const SearchReport&)>& show) {
  SHARDLAB_TRY(SearchQuestion question, read_question(settings.file, context.options.overrides));
  SHARDLAB_TRY(SearchSpace space, SearchSpace::of(question));
  SHARDLAB_TRY(SearchOptions options, options_of(settings, question));
  ResultFile kept;
  SHARDLAB_CHECK_OK(open_results(settings, context.console, kept));
  CalibrationFor calibration_for;
  if (!settings.no_calibration)
    calibration_for = [&](const Scenario& scenario) {
      return find_calibration_if_any(context.options, scenario);
    };
  Evaluator evaluator(question.base, std::move(calibration_for), kept);
  ProgressLine line(context.console);
  options.progress = [&](const SearchProgress& now) {
    line.show(fmt::format("{} of {} combinations, {} simulated", now.done, now.total, now.simulated));
  };
  SHARDLAB_TRY(SearchResult result, search(space, evaluator, options));
  if (lacks_memory_everywhere(question, result)) {
    question.knobs.push_back(offload_knob());
    SHARDLAB_TRY(space, SearchSpace::of(question));
    SHARDLAB_TRY(result, search(space, evaluator, options));
  }
  SHARDLAB_TRY(const TimeErrors errors, TimeErrors::read());
  SearchReport report{question, result, id_of(question), {}, {}, {}, {}, &errors, settings.recommends};
  SHARDLAB_CHECK_OK(look_around(space, evaluator, settings, options.threads, report));
  line.clear();
  context.console.note(
      fmt::format("{} simulated now, {:.1f} s", evaluator.simulations(), result.timing.seconds));
  return show(report);
}

Status write_recommended(const SearchReport& report, const Leader& leader, const std::string& file) {
  const BaseScenario& base = report.question.base;
  std::vector<std::string> overrides = base.overrides;
  const std::vector<std::string>& settings = recommended(leader).configuration.settings;
  overrides.insert(overrides.end(), settings.begin(), settings.end());
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(base.text, base.file, overrides));
  return write_output_file(file, repeatable_scenario(scenario));
}

}  // namespace shardlab
