// What the doctor says about a case: findings, each with the evidence for it and what to do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/base/words.h"
#include "engine/doctor/remedy.h"

namespace shardlab {

// error: the job cannot go on, or its result is wrong. warning: it wastes time or memory, or may fail. info:
// worth knowing; a job with nothing above it is well.
enum class Severity : std::uint8_t { error, warning, info };
template <>
inline constexpr auto k_words<Severity> = std::to_array<Word<Severity>>({{Severity::error, "error"},
                                                                         {Severity::warning, "warning"},
                                                                         {Severity::info, "info"}});

// Where something was seen, and what.
struct Evidence {
  std::string source;            // the name of what was looked at: a file, "-", a run
  std::string where;             // in it: "line 12, rank 3", "parallel.wrap.policy"
  std::string text;              // the line itself, or numbers in words; one line of valid UTF-8
  std::int64_t line = 0;         // of a file, from 1; 0 where there is none
  std::optional<int> rank = {};  // that wrote it, where that is known
  // For whoever can go there: a key of the scenario, or an instruction of the steady plan.
  std::string key = {};
  std::optional<InstructionId> instruction = {};

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// What is changed: keys of the scenario, variables of the launch, a command to run, or the user's own
// program.
enum class FixKind : std::uint8_t { settings, environment, command, code };
template <>
inline constexpr auto k_words<FixKind> = std::to_array<Word<FixKind>>({{FixKind::settings, "settings"},
                                                                       {FixKind::environment, "environment"},
                                                                       {FixKind::command, "command"},
                                                                       {FixKind::code, "code"}});

struct Fix {
  FixKind kind = FixKind::code;
  std::vector<std::string> set = {};  // key=value of the scenario or NAME=value of the environment
  std::string text;                   // a sentence

  friend bool operator==(const Fix&, const Fix&) = default;
};

// What a scenario costs, as predicted.
struct Cost {
  Bytes peak{};                        // allocated, of the rank that needs most
  std::optional<Bytes> reserved = {};  // by the allocator; absent on processors
  Nanoseconds step_time{};
  Nanoseconds exposed{};               // of it, communication that nothing hides
  std::optional<bool> fits = {};       // absent where nobody knows how much there is
  std::optional<Bytes> too_much = {};  // by which the device is too small; absent where it is not

  friend bool operator==(const Cost&, const Cost&) = default;
};

// What the fix changes, as predicted with it.
struct Effect {
  Cost before;
  Cost after;

  friend bool operator==(const Effect&, const Effect&) = default;
};

// How a finding relates to the others of its case, the earlier first: what broke, what was merely seen to
// stand still (its cause may lie elsewhere), what follows when another process ends.
enum class Role : std::uint8_t { cause, symptom, consequence };

struct Finding {
  std::string rule;                // its id, "memory/fragmentation"
  std::vector<std::string> codes;  // of the rule, the one that fits best first
  Severity severity = Severity::warning;
  std::string title;
  std::string message;  // what is the matter, with the numbers that were seen
  std::vector<Evidence> evidence;
  std::vector<int> ranks;  // that wrote what shows it, in order; empty where no line says whose it is
  Fix fix;
  std::optional<Effect> effect;
  bool of_its_own = false;  // a sign's own message and next step, which the rule's explanation is not about

  // For whoever can predict (remedy.h): what may help, and what it must reach. `severity` is then the highest
  // that the finding can have. A finding that is only worth saying with a fix goes where none helps.
  Goal goal = Goal::none;
  std::vector<Remedy> remedies = {};
  bool takes_all_remedies = false;  // the finding for which those of all others are tried as well
  bool needs_a_fix = false;
  double share_of_limit = 1;  // of the device's memory, that a faster step may need

  // For the order in which findings are shown (order_findings.h).
  Role role = Role::cause;
  int certainty = 50;         // 0 to 100: how much of what identifies the problem was seen
  std::int64_t position = 0;  // in what was looked at, so that the earlier comes first

  // Out of line: many hand it on, and few look into all of it.
  Finding();
  Finding(const Finding&);
  Finding(Finding&&) noexcept;
  Finding& operator=(const Finding&);
  Finding& operator=(Finding&&) noexcept;
  ~Finding();

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace shardlab
