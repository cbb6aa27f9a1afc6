#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/trace/exposed_communication.h"
#include "simulator/lessons/figure_list.h"
#include "simulator/lessons/found_instruction.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

// How long one rank's stream is busy in the first measured step, or in the predicted one.
Nanoseconds busy_time(const FigureSubject& subject, StreamId stream) {
  Nanoseconds sum, until;
  std::vector<TimeInterval> spans;
  for (const Span& span : subject.rank().spans) {
    const Instruction& instruction = subject.plan().instruction(span.instruction);
    if (instruction.stream == stream && !is_host_only(instruction.kind))
      spans.push_back({span.start, span.end});
  }
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (const TimeInterval& span : spans) {
    if (span.end <= until) continue;
    sum += span.end - std::max(span.begin, until);
    until = span.end;
  }
  return sum;
}

Result<Value> busy(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string wanted, text_of(rest[0]));
  std::vector<std::string> known;
  for (std::size_t i = 0; i < subject.plan().streams.size(); ++i) {
    if (subject.plan().streams[i].name == wanted) return time_value(busy_time(subject, make_id<StreamId>(i)));
    known.push_back(subject.plan().streams[i].name);
  }
  return bad_input({}, fmt::format("the plan has no stream '{}'", wanted), suggestion(wanted, known));
}

Result<Value> spent(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const InstructionKind kind, word_of<InstructionKind>(rest[0]));
  Nanoseconds sum;
  for (const Span& span : subject.rank().spans) {
    if (subject.plan().instruction(span.instruction).kind == kind) sum += span.end - span.start;
  }
  return time_value(sum);
}

// Idle compute that no communication is to blame for: the host came too late.
Result<Value> late_host(const FigureSubject& subject, Rest) {
  const Nanoseconds idle = subject.rank().duration - busy_time(subject, StreamId{0});
  const Nanoseconds exposed = exposed_communication(subject.plan(), subject.rank());
  return time_value(std::max(idle - exposed, Nanoseconds{}));
}

// From when the step begins until the host has issued the last instruction.
Result<Value> issue_time(const FigureSubject& subject, Rest) {
  Nanoseconds last;
  for (const Span& span : subject.rank().spans) last = std::max(last, span.issue);
  return time_value(last);
}

Result<const Span*> span_at(const FigureSubject& subject, const Value& value) {
  SHARDLAB_TRY(const std::string text, text_of(value));
  SHARDLAB_TRY(const InstructionId id, found_instruction(subject.plan(), text));
  for (const Span& span : subject.rank().spans) {
    if (span.instruction == id) return &span;
  }
  return bad_input({}, fmt::format("'{}' was not run", text));
}

Result<Value> starts(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const Span* span, span_at(subject, rest[0]));
  return time_value(span->start);
}
Result<Value> ends(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const Span* span, span_at(subject, rest[0]));
  return time_value(span->end);
}
Result<Value> duration(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const Span* span, span_at(subject, rest[0]));
  return time_value(span->end - span->start);
}

Result<Value> communicating(const FigureSubject& subject, Rest) {
  Nanoseconds sum;
  for (const Span& span : subject.rank().spans) {
    if (is_collective(subject.plan().instruction(span.instruction).kind)) sum += span.end - span.start;
  }
  return time_value(sum);
}

constexpr std::array k_time_figures = {
    FigureFunction{"step_time", "a", 0, 0, "how long a step takes",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return time_value(subject.summary->step_time.median);
                   }},
    FigureFunction{"exposed", "a", 0, 0, "communication that compute waits for",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return time_value(subject.summary->exposed_communication);
                   }},
    FigureFunction{"communicating", "a", 0, 0, "how long all collectives take, added up", communicating},
    FigureFunction{"tokens_per_second", "a", 0, 0, "of all ranks",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(subject.summary->tokens_per_second);
                   }},
    FigureFunction{"mfu", "a", 0, 0, "model FLOPs per second as a share of the device's peak",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     if (subject.summary->mfu) return number_value(*subject.summary->mfu);
                     return not_possible({}, "no peak rate is known");
                   }},
    FigureFunction{"busy", "a, stream", 1, 1, "how long a stream is busy in a step", busy},
    FigureFunction{"spent", "a, kind", 1, 1, "how long the instructions of a kind take, added up", spent},
    FigureFunction{"late_host", "a", 0, 0, "how long compute is idle and waits for no communication",
                   late_host},
    FigureFunction{"issue_time", "a", 0, 0, "when the host has issued the step's last instruction",
                   issue_time},
    FigureFunction{"starts", "a, instruction", 1, 1, "when it starts, from the beginning of the step",
                   starts},
    FigureFunction{"ends", "a, instruction", 1, 1, "when it ends", ends},
    FigureFunction{"duration", "a, instruction", 1, 1, "how long it takes", duration},
};

}  // namespace

std::span<const FigureFunction> figures_of_time() {
  return k_time_figures;
}

}  // namespace shardlab::lessons
