#include "engine/formats/chrome_trace.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engine/trace/known_classes.h"

namespace shardlab {
namespace {

constexpr int k_host_track = 0;  // streams follow as 1, 2 ...

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += ' ';
    else
      result += c;
  }
  return result;
}

std::string microseconds_text(Nanoseconds time) {
  const std::string_view sign = time.value < 0 ? "-" : "";
  const std::int64_t size = time.value < 0 ? -time.value : time.value;
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

// Appends events, one a line, with the commas between them.
class EventWriter {
 public:
  void metadata(std::string_view what, int process, int track, std::string_view name) {
    begin();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})", what, process,
                   track, escaped(name));
  }
  void order(int process, int track) {
    begin();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                   process, track, track);
  }
  // `arguments` is the inside of a JSON object.
  void complete(int process, int track, std::string_view name, std::string_view category, Nanoseconds start,
                Nanoseconds end, std::string_view arguments) {
    begin();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                   escaped(name), category, process, track, microseconds_text(start),
                   microseconds_text(end - start), arguments);
  }
  void flow(std::string_view phase, int process, int track, std::int64_t id, Nanoseconds at) {
    begin();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"{}","name":"wait","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}{}}})", phase,
                   id, process, track, microseconds_text(at), phase == "f" ? R"(,"bp":"e")" : "");
  }
  void counter(int process, std::string_view name, Nanoseconds at, std::string_view values) {
    begin();
    fmt::format_to(std::back_inserter(text_), R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{{}}}}})",
                   name, process, microseconds_text(at), values);
  }
  std::string finish() { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n"; }

 private:
  void begin() {
    if (!text_.empty()) text_ += ",\n";
  }
  std::string text_;
};

std::string arguments_of(const TracedStep& step, const Span& span) {
  const StepPlan& plan = step.plan;
  const Instruction& instruction = plan.instruction(span.instruction);
  std::string text;
  if (span.instruction.index() < step.words.size())
    text = fmt::format(R"("does":"{}",)", escaped(step.words[span.instruction.index()]));
  text += fmt::format(R"("instruction":{},"step":{},"bytes":{})", span.instruction.value, step.trace.step,
                      instruction.bytes.value);
  const auto names = [&](std::string_view key, const std::vector<BufferId>& ids) {
    if (ids.empty()) return;
    text += fmt::format(R"(,"{}":")", key);
    for (const BufferId id : ids) text += escaped(plan.buffer(id).name) + (id == ids.back() ? "\"" : " ");
  };
  names("reads", instruction.reads);
  names("writes", instruction.writes);
  return text;
}

// Writes the steps of one rank of one run.
class RankWriter {
 public:
  // `next_flow`: the number of the next arrow; arrows are numbered through all runs.
  RankWriter(EventWriter& events, int process, std::int64_t& next_flow)
      : events_(events), process_(process), next_flow_(next_flow) {}

  void step(const TracedStep& step, const RankTrace& rank, Nanoseconds begin) {
    spans_.assign(step.plan.instructions.size(), nullptr);
    for (const Span& span : rank.spans) spans_[span.instruction.index()] = &span;
    for (const Span& span : rank.spans) write_span(step, span, begin);
    write_memory(rank, begin);
  }

 private:
  void write_span(const TracedStep& step, const Span& span, Nanoseconds begin) {
    const Instruction& instruction = step.plan.instruction(span.instruction);
    const bool on_host = is_host_only(instruction.kind);
    const int track = on_host ? k_host_track : static_cast<int>(instruction.stream.value) + 1;
    const std::string arguments = arguments_of(step, span);
    events_.complete(process_, track, instruction_label(step.plan, span.instruction),
                     to_string(instruction.kind), begin + span.start, begin + std::max(span.start, span.end),
                     arguments);
    if (!on_host) write_waits(step.plan, instruction, span, track, begin);
  }

  // An arrow from the end of each instruction on another stream that this one waited for.
  void write_waits(const StepPlan& plan, const Instruction& instruction, const Span& span, int track,
                   Nanoseconds begin) {
    for (const InstructionId id : instruction.waits) {
      const Span* before = spans_[id.index()];
      if (before == nullptr || is_host_only(plan.instruction(id).kind)) continue;
      // An arrow belongs to the slice around its time, and the end is outside.
      const Nanoseconds last = std::max(before->start, before->end - Nanoseconds{1});
      events_.flow("s", process_, static_cast<int>(plan.instruction(id).stream.value) + 1, next_flow_,
                   begin + last);
      events_.flow("f", process_, track, next_flow_++, begin + span.start);
    }
  }

  static std::string levels(const MemorySample& sample, bool by_class) {
    if (!by_class) return fmt::format(R"("not told apart":{})", sample.live.value);
    std::string values;
    for (std::size_t i = 0; i < k_buffer_classes; ++i) {
      values += fmt::format(R"({}"{}":{})", i == 0 ? "" : ",", to_string(static_cast<BufferClass>(i)),
                            sample.by_class[i].value);
    }
    return values;
  }

  void write_memory(const RankTrace& rank, Nanoseconds begin) {
    const bool by_class = std::any_of(rank.memory.begin(), rank.memory.end(),
                                      [](const MemorySample& each) { return knows_classes(each.by_class); });
    for (const MemorySample& sample : rank.memory) {
      if (sample.instruction.index() >= spans_.size() || spans_[sample.instruction.index()] == nullptr)
        continue;
      events_.counter(process_, "memory", begin + spans_[sample.instruction.index()]->issue,
                      levels(sample, by_class));
    }
  }

  EventWriter& events_;
  int process_;
  std::int64_t& next_flow_;
  std::vector<const Span*> spans_;  // by instruction of the step being written
};

Nanoseconds duration_of(const StepTrace& trace) {
  Nanoseconds longest;
  for (const RankTrace& rank : trace.ranks) longest = std::max(longest, rank.start_offset + rank.duration);
  return longest;
}

void name_tracks(EventWriter& events, int process, std::string_view title, int rank, const StepPlan& plan) {
  events.metadata("process_name", process, 0, fmt::format("{} rank {}", title, rank));
  events.metadata("thread_name", process, k_host_track, "host");
  events.order(process, k_host_track);
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    const int track = static_cast<int>(i) + 1;
    events.metadata("thread_name", process, track, plan.streams[i].name);
    events.order(process, track);
  }
}

// Returns the number of processes written.
int write_run(EventWriter& events, const TracedRun& run, int first_process, std::int64_t& next_flow) {
  if (run.steps.empty()) return 0;
  const std::vector<RankTrace>& ranks = run.steps.front().trace.ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int process = first_process + static_cast<int>(i);
    name_tracks(events, process, run.title, ranks[i].rank, run.steps.front().plan);
    RankWriter writer(events, process, next_flow);
    Nanoseconds begin;
    for (const TracedStep& step : run.steps) {
      if (i < step.trace.ranks.size()) {
        writer.step(step, step.trace.ranks[i], begin + step.trace.ranks[i].start_offset);
      }
      begin += duration_of(step.trace);
    }
  }
  return static_cast<int>(ranks.size());
}

}  // namespace

std::string chrome_trace(std::span<const TracedRun> runs) {
  EventWriter events;
  int process = 1;
  std::int64_t next_flow = 1;
  for (const TracedRun& run : runs) process += write_run(events, run, process, next_flow);
  return events.finish();
}

}  // namespace shardlab
