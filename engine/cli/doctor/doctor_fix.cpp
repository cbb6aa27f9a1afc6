#include "engine/cli/doctor/doctor_fix.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/doctor/registry.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_fixes = 20;  // one after the other; each is examined anew

bool is_wanted(const Finding& finding, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return finding.severity != Severity::info;
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    const auto rule = find_rule(name);
    return rule && (*rule)->id == finding.rule;
  });
}

// The later value of a key counts.
void add_setting(std::vector<std::string>& set, const std::string& setting) {
  const std::string key = setting.substr(0, setting.find('=') + 1);
  std::erase_if(set, [&](const std::string& earlier) { return earlier.starts_with(key); });
  set.push_back(setting);
}

bool was_fixed(const FixedJob& fixed, const Finding& finding) {
  return std::find(fixed.rules.begin(), fixed.rules.end(), finding.rule) != fixed.rules.end();
}

bool is_told_by_others(const FixedJob& fixed, const Finding& finding) {
  return std::none_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& evidence) {
    return evidence.source == fixed.job.read.source.file();
  });
}

// A fix that was applied and is proposed again would be so forever; and a log goes on telling of what the
// scenario's own finding of the same rule has mended.
const Finding* next_to_fix(const FixedJob& fixed, const std::vector<std::string>& wanted) {
  for (const Finding& finding : fixed.examination.findings) {
    if (was_fixed(fixed, finding) && is_told_by_others(fixed, finding)) continue;
    const bool new_settings =
        std::any_of(finding.fix.set.begin(), finding.fix.set.end(), [&](const std::string& set) {
          return std::find(fixed.applied.begin(), fixed.applied.end(), set) == fixed.applied.end();
        });
    if (finding.fix.kind == FixKind::settings && new_settings && is_wanted(finding, wanted)) return &finding;
  }
  return nullptr;
}

constexpr std::string_view k_has_them = "the scenario has these settings already";

bool is_same_scenario(const DoctorJob& a, const DoctorJob& b) {
  return write_scenario(a.planned.scenario) == write_scenario(b.planned.scenario);
}

// Whether a log, dumps or a program show it, and not the scenario alone.
bool is_seen_beside(const Finding& finding, const DoctorJob& job) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const Evidence& evidence) { return evidence.source != job.read.source.file(); });
}

std::string refusal_words(const Error& error) {
  const Error& first = error.parts.empty() ? error : error.parts.front();
  return fmt::format("the scenario does not allow these settings: {}", first.what);
}

std::string_view words_of_kind(FixKind kind) {
  switch (kind) {
    case FixKind::settings: return "advice without a setting of its own";
    case FixKind::environment: return "a variable of the environment, no setting of a scenario";
    case FixKind::command: return "a command, no setting of a scenario";
    case FixKind::code: return "a change of the program, no setting of a scenario";
  }
  return "";
}

void apply(FixedJob& fixed, const Finding& finding, DoctorJob changed) {
  const std::string rule = finding.rule;  // the finding may go with the job
  fixed.mended.insert(fixed.mended.end(), finding.evidence.begin(), finding.evidence.end());
  for (const std::string& setting : finding.fix.set) {
    fixed.applied.push_back(setting);
    add_setting(fixed.set, setting);
  }
  fixed.job = std::move(changed);
  fixed.rules.push_back(rule);
}

// Whether it says no more than what was fixed: more general words about the same line.
bool is_mended(const FixedJob& fixed, const Finding& finding) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& seen) {
    return std::any_of(fixed.mended.begin(), fixed.mended.end(), [&](const Evidence& mended) {
      return seen.line > 0 && seen.source == mended.source && seen.line == mended.line &&
             seen.source != fixed.job.read.source.file();
    });
  });
}

// What stands beside the scenario shows it, and it was not fixed.
void add_left(FixedJob& fixed, const std::vector<std::string>& wanted) {
  for (const Finding& finding : fixed.examination.findings) {
    const bool is_left =
        !was_fixed(fixed, finding) && is_seen_beside(finding, fixed.job) && !is_mended(fixed, finding);
    if (is_left && is_wanted(finding, wanted))
      fixed.left.push_back({finding, std::string(words_of_kind(finding.fix.kind))});
  }
}

}  // namespace

Result<FixedJob> fix_job(DoctorJob job, const BesideJob& beside, const std::vector<std::string>& wanted,
                         const std::vector<std::string>& ignored) {
  FixedJob fixed{std::move(job), {}, {}, {}, {}, {}, {}};
  SHARDLAB_TRY(fixed.examination, examine_job(fixed.job, beside, ignored));
  std::vector<std::string> given_up = ignored;  // rules whose settings are not allowed, or are there already
  while (fixed.rules.size() < k_most_fixes) {
    const Finding* finding = next_to_fix(fixed, wanted);
    if (finding == nullptr) break;
    auto changed = job_with(fixed.job, finding->fix.set);
    if (!changed && is_of_the_machine(changed.error())) return fail(changed.error());
    if (!changed || is_same_scenario(*changed, fixed.job)) {
      given_up.push_back(finding->rule);
      if (is_seen_beside(*finding, fixed.job))
        fixed.left.push_back({*finding, changed ? std::string(k_has_them) : refusal_words(changed.error())});
    } else {
      apply(fixed, *finding, *std::move(changed));
    }
    SHARDLAB_TRY(fixed.examination, examine_job(fixed.job, beside, given_up));
  }
  add_left(fixed, wanted);
  return fixed;
}

}  // namespace shardlab
