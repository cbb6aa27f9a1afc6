#include "simulator/remedies/try_remedies.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/room.h"
#include "simulator/remedies/settings_that_fit.h"
#include "simulator/remedies/shared_remedies.h"

namespace shardlab {
namespace {

// Proposals: below the first a gain is within what a prediction does not know, from the second on it is a
// waste not to take it.
constexpr double k_least_gain = 0.01, k_waste = 0.1;

constexpr std::string_view k_what_else = "more or larger devices, or a smaller model";

void propose(Finding& finding, const FittingSettings& fitting, const RunSummary& before) {
  finding.fix.kind = FixKind::settings;
  finding.fix.set = fitting.settings;
  finding.effect = Effect{cost_of(before), cost_of(*fitting.run)};
}

void say_that_nothing_helps(Finding& finding, const RunSummary& before) {
  finding.fix.set.clear();
  if (finding.goal == Goal::fit) {
    finding.fix.text = "nothing that was tried helps: ";
    if (shortage_of(before)) finding.fix.text += shortage_words(before) + "; ";
    finding.fix.text += k_what_else;
  } else {
    finding.fix.text += "; no setting that was tried makes the step shorter";
  }
}

// What rules name, and what `explain memory` would; empty where no finding takes all.
std::vector<Remedy> all_remedies(const std::vector<Finding>& findings, const Trials& trials) {
  std::vector<Remedy> all;
  bool is_taken = false;
  for (const Finding& finding : findings) {
    if (finding.goal == Goal::fit) add_new(finding.remedies, all);
    is_taken = is_taken || finding.takes_all_remedies;
  }
  if (!is_taken) return {};
  add_new(shared_remedies(trials.planned(), trials.before()), all);
  return all;
}

std::string fitting_words(const FittingSettings& fitting) {
  switch (room_of(*fitting.run)) {
    case Room::ample:
      return fitting.settings.size() > 1 ? "together these make it fit, cheapest first" : "this makes it fit";
    case Room::tight: return "with this it only just fits; more or larger devices give it room";
    case Room::none:
      return fmt::format("this lowers the need and is not enough: {}; {}", shortage_words(*fitting.run),
                         k_what_else);
  }
  return {};
}

// Whether the finding stays.
bool try_to_fit(Finding& finding, const std::vector<Remedy>& all, Trials& trials) {
  const auto fitting = settings_that_fit(trials, finding.takes_all_remedies ? all : finding.remedies);
  if (fitting) {
    propose(finding, *fitting, trials.before());
    if (finding.takes_all_remedies) finding.fix.text = fitting_words(*fitting);
  } else {
    if (finding.needs_a_fix) return false;
    say_that_nothing_helps(finding, trials.before());
  }
  return true;
}

double gain(const RunSummary& before, const RunSummary& after) {
  return before.tokens_per_second > 0 ? after.tokens_per_second / before.tokens_per_second - 1 : 0;
}

// A shorter step must not cost the room.
bool leaves_room(const Finding& finding, const RunSummary& before, const RunSummary& after) {
  if (room_of(after) > room_of(before)) return false;
  if (!after.memory_limit) return true;
  return static_cast<double>(need_of(after).value) <=
         finding.share_of_limit * static_cast<double>(after.memory_limit->value);
}

std::optional<FittingSettings> fastest(const Finding& finding, Trials& trials) {
  const RunSummary& before = trials.before();
  std::optional<FittingSettings> best;
  for (const Remedy& remedy : finding.remedies) {
    for (const Settings& level : remedy.levels) {
      const RunSummary* run = trials.with(level);
      if (run == nullptr || !leaves_room(finding, before, *run) || gain(before, *run) < k_least_gain)
        continue;
      if (!best || run->tokens_per_second > best->run->tokens_per_second) best = FittingSettings{level, run};
    }
  }
  return best;
}

bool try_to_speed_up(Finding& finding, Trials& trials) {
  const auto best = fastest(finding, trials);
  if (!best) {
    if (finding.needs_a_fix) return false;
    say_that_nothing_helps(finding, trials.before());
    finding.severity = Severity::info;
    return true;
  }
  propose(finding, *best, trials.before());
  const double gained = gain(trials.before(), *best->run);
  finding.message += fmt::format(" With the fix {:.0f} % more tokens a second.", gained * 100);
  if (gained < k_waste) finding.severity = std::max(finding.severity, Severity::info);
  return true;
}

void tell_effect(Finding& finding, Trials& trials) {
  for (const Remedy& remedy : finding.remedies) {
    for (const Settings& level : remedy.levels) {
      const RunSummary* run = trials.with(level);
      if (run == nullptr) continue;
      propose(finding, {level, run}, trials.before());
      if (finding.severity == Severity::warning && gain(trials.before(), *run) < k_waste)
        finding.severity = Severity::info;
      return;
    }
  }
  finding.fix.set.clear();
  if (finding.severity == Severity::warning) finding.severity = Severity::info;
}

void keep_first_of_each_fix(std::vector<Finding>& findings) {
  std::vector<const Settings*> seen;
  for (Finding& finding : findings) {
    if (finding.severity == Severity::info || finding.goal == Goal::none || finding.fix.set.empty()) continue;
    const bool again =
        std::any_of(seen.begin(), seen.end(), [&](const Settings* each) { return *each == finding.fix.set; });
    if (again) finding.severity = Severity::info;
    seen.push_back(&finding.fix.set);
  }
}

}  // namespace

void try_remedies(std::vector<Finding>& findings, Trials& trials) {
  const std::vector<Remedy> all = all_remedies(findings, trials);
  std::erase_if(findings, [&](Finding& finding) {
    switch (finding.goal) {
      case Goal::none: return false;
      case Goal::fit: return !try_to_fit(finding, all, trials);
      case Goal::speed: return !try_to_speed_up(finding, trials);
      case Goal::effect: tell_effect(finding, trials); return false;
    }
    return false;
  });
  keep_first_of_each_fix(findings);
}

}  // namespace shardlab
