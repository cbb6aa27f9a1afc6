#include "gui/view_model/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/lower_case.h"
#include "engine/formats/profiler/import_profile.h"
#include "engine/report/figures.h"
#include "engine/store/judged_pair.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

CellTone tone_of(Fit fit) {
  return fit == Fit::yes ? CellTone::good : fit == Fit::unsure ? CellTone::fair : CellTone::bad;
}

std::string tags_text(const RunEntry& run) {
  std::string text;
  for (const std::string& tag : run.tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

std::string operators_text(const RunEntry& run) {
  return run.implementation ? std::string(to_string(*run.implementation)) : "";
}

std::string searched_text(const RunEntry& run) {
  return in_lower_case(fmt::format("{} {} {} {} {} {} {} {}", to_string(run.id), run.name, run.strategy,
                                   run.machine, operators_text(run), tags_text(run), run.note,
                                   run.plan_hash));
}

const std::string k_stored = "the database of runs";

Cell rate_cell(double per_second) {
  return {rate(per_second), per_second};
}

// A trace of a profiler is of no strategy's plan.
Cell strategy_cell(const RunEntry& run) {
  if (run.strategy == k_imported_strategy) return text_cell("-", CellTone::faint);
  return text_cell(run.strategy);
}

Row run_row(const RunEntry& run) {
  const bool finished = run.step_time.value > 0;  // memory may have ended it before
  Row row;
  row.key = run.id.value;
  row.cells = {{to_string(run.id), static_cast<double>(run.id.value)},
               {format_created(run.created), static_cast<double>(run.created)},
               text_cell(std::string(to_string(run.kind))),
               text_cell(run.name),
               strategy_cell(run),
               text_cell(run.machine),
               text_cell(operators_text(run)),
               run.ranks > 0 ? count_cell(run.ranks) : text_cell("-", CellTone::faint),
               finished ? time_cell(run.step_time) : text_cell("-", CellTone::faint),
               run.tokens_per_second > 0 ? rate_cell(run.tokens_per_second) : text_cell("-", CellTone::faint),
               share_cell(run.mfu),
               bytes_cell(run.peak_allocated),
               run.fits ? text_cell(std::string(to_string(*run.fits)), tone_of(*run.fits))
                        : text_cell("-", CellTone::faint),
               run.last_loss ? Cell{fmt::format("{:.4f}", *run.last_loss), run.last_loss}
                             : text_cell("-", CellTone::faint),
               text_cell(tags_text(run)),
               text_cell(run.note)};
  return row;
}

// A calibrated one beats one that is not, a newer one an older one.
bool better(const RunEntry& candidate, const RunEntry* best) {
  if (best == nullptr || candidate.calibrated != best->calibrated)
    return best == nullptr || candidate.calibrated;
  return candidate.id > best->id;
}

// The best of the predictions by machine; null where none is of this one.
const RunEntry* best_for(const std::string& machine,
                         const std::map<std::string, const RunEntry*>& predictions) {
  const RunEntry* best = nullptr;
  for (const auto& [its, prediction] : predictions)
    if (machines_agree(its, machine) && better(*prediction, best)) best = prediction;
  return best;
}

std::optional<double> error_between(std::optional<Bytes> predicted, std::optional<Bytes> measured) {
  if (!predicted || !measured || measured->value == 0) return std::nullopt;
  return static_cast<double>(predicted->value) / static_cast<double>(measured->value) - 1;
}

}  // namespace

bool matches(const RunEntry& run, const RunListFilter& filter) {
  if (filter.kind && run.kind != *filter.kind) return false;
  if (!filter.tag.empty() && std::find(run.tags.begin(), run.tags.end(), filter.tag) == run.tags.end())
    return false;
  if (filter.text.empty()) return true;
  const std::string text = searched_text(run), wanted = in_lower_case(filter.text);
  for (std::size_t begin = 0; begin < wanted.size();) {
    const std::size_t end = std::min(wanted.find(' ', begin), wanted.size());
    if (text.find(wanted.substr(begin, end - begin)) == std::string::npos) return false;
    begin = end + 1;
  }
  return true;
}

std::vector<std::string> tags_of(const std::vector<RunEntry>& runs) {
  std::set<std::string> tags;
  for (const RunEntry& run : runs) tags.insert(run.tags.begin(), run.tags.end());
  return {tags.begin(), tags.end()};
}

DataTable run_table(const std::vector<RunEntry>& runs, const RunListFilter& filter) {
  const auto of_metric = [](const char* metric) { return *metric_meaning(metric); };
  const auto of_stored = [&](const char* figure) {
    Meaning meaning = of_metric(figure);
    meaning.source = k_stored;
    return meaning;
  };
  DataTable table{
      "runs",
      {{"run", "", true, {"the number that the database gave it; never used twice", k_stored}},
       {"stored", "seconds since 1970", true, {"when it was saved, UTC", k_stored}},
       {"kind", "", false},
       {"scenario", "", false},
       {"strategy", "", false},
       {"machine", "", false, {"the scenario's cluster; empty for runs of before it was kept", k_stored}},
       {"operators", "", false, of_stored("implementation")},
       {"ranks", "", true, of_stored("ranks")},
       {"step time", "ns", true, of_metric("step_time")},
       {"tokens/s", "", true, of_metric("tokens_per_second")},
       {"MFU", "fraction", true, of_metric("mfu")},
       {"peak", "bytes", true, of_metric("peak_allocated")},
       {"fits", "", false, of_stored("fits")},
       {"loss", "", true, of_metric("last_loss")},
       {"tags", "", false},
       {"note", "", false}},
      {}};
  table.explain = [](const DataTable& its, std::size_t row, std::size_t, Why& why) {
    const Row& run = its.rows[row];
    why.source = fmt::format("the summary of {}, {}", run.cells[0].text, run.cells[2].text);
    why.notes.push_back("choose the run: Compare, Timeline and Memory say what it is made of");
  };
  for (const RunEntry& run : runs) {
    if (matches(run, filter)) table.rows.push_back(run_row(run));
  }
  return table;
}

std::vector<TrendPoint> error_trend(const std::vector<RunEntry>& runs, const RunListFilter& filter) {
  std::vector<const RunEntry*> by_age;
  for (const RunEntry& run : runs) by_age.push_back(&run);
  std::sort(by_age.begin(), by_age.end(), [](const RunEntry* a, const RunEntry* b) { return a->id < b->id; });
  std::map<std::string, std::map<std::string, const RunEntry*>>
      predictions;  // by plan and machine, of the runs so far
  std::vector<TrendPoint> trend;
  for (const RunEntry* run : by_age) {
    auto& of_plan = predictions[run->plan_hash];
    if (run->kind == RunKind::predicted) {
      const RunEntry*& best = of_plan[run->machine];
      if (better(*run, best)) best = run;
      continue;
    }
    const RunEntry* const prediction = best_for(run->machine, of_plan);
    if (prediction == nullptr || run->step_time.value <= 0 || !matches(*run, filter)) continue;
    if (!run->times_not_judged.empty()) continue;
    trend.push_back(
        {run->id, prediction->id, run->name, run->created,
         static_cast<double>(prediction->step_time.value) / static_cast<double>(run->step_time.value) - 1,
         error_between(prediction->peak_allocated, run->peak_allocated), prediction->calibrated});
  }
  return trend;
}

DataTable trend_table(const std::vector<TrendPoint>& trend) {
  DataTable table{
      "error-trend",
      {{"stored", "seconds since 1970", true, {"when the measured run was saved, UTC", k_stored}},
       {"scenario", "", false},
       {"measured", "", true, {"the number of the measured run", k_stored}},
       {"predicted",
        "",
        true,
        {"the number of the prediction of the same plan that stood in the database before it: the "
         "newest calibrated one, else the newest",
         k_stored}},
       {"step time error",
        "fraction",
        true,
        {"the prediction's step time divided by the measured one, less one", k_stored}},
       {"peak error",
        "fraction",
        true,
        {"the prediction's peak divided by the measured one, less one", k_stored}},
       {"calibrated", "", false}},
      {}};
  for (const TrendPoint& point : trend) {
    Row row;
    row.key = point.measured.value;
    row.cells = {{format_created(point.created), static_cast<double>(point.created)},
                 text_cell(point.name),
                 {to_string(point.measured), static_cast<double>(point.measured.value)},
                 {to_string(point.predicted), static_cast<double>(point.predicted.value)},
                 error_cell(point.step_time_error),
                 error_cell(point.peak_error),
                 text_cell(point.calibrated ? "yes" : "no")};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace shardlab::view
