#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/plan/text.h"

namespace shardlab {
namespace {

// A short text may name long ranges. 10,000 layers of 12 parameters with 20 buffers each have 2.4 million.
constexpr std::size_t k_most_parameters = 8'000'000;
constexpr std::size_t k_most_passes = 1'000;

// One line as words, read from the left.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}
  std::string_view next() {
    const std::size_t begin = std::min(line_.find_first_not_of(' '), line_.size());
    const std::size_t end = std::min(line_.find(' ', begin), line_.size());
    const std::string_view word = line_.substr(begin, end - begin);
    line_.remove_prefix(end);
    return word;
  }

 private:
  std::string_view line_;
};

// Thrown and caught inside this file only: a line is read by many small functions.
struct Malformed {
  std::string what;
};

template <typename Number>
Number number(std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    throw Malformed{fmt::format("expected a number, found '{:.80}'", word)};
  return value;
}

template <typename T>
T known(const std::optional<T>& value, std::string_view kind, std::string_view word) {
  if (!value) throw Malformed{fmt::format("unknown {} '{:.80}'", kind, word)};
  return *value;
}

class PlanParser {
 public:
  void line(std::string_view text) {
    Words words(text);
    const std::string_view key = words.next();
    if (key.empty()) return;
    if (key.front() >= '0' && key.front() <= '9') return instruction(number<std::size_t>(key), words);
    if (key == "buffer") return buffer(words);
    if (key == "unit") return unit(words);
    if (key == "segment") return segment(words);
    header(key, words);
  }

  StepPlan take() { return std::move(plan_); }

 private:
  void header(std::string_view key, Words& words) {
    const std::string_view value = words.next();
    if (key == "plan") {
      if (value != "1")
        throw Malformed{fmt::format("plan format {} is not known; this program reads 1", value)};
    } else if (key == "phase") {
      plan_.phase = known(parse_word<PlanPhase>(value), "phase", value);
    } else if (key == "strategy") {
      plan_.strategy = value;
    } else if (key == "graph") {
      plan_.graph_hash = value;
    } else if (key == "world") {
      plan_.world_size = number<int>(value);
    } else if (key == "micro_batches") {
      plan_.micro_batches = number<int>(value);
    } else if (key == "group") {
      expect(words, "size");
      const RankSet ranks = known(parse_rank_set(value), "group", value);
      groups_.emplace(ranks, make_id<GroupId>(plan_.groups.size()));
      plan_.groups.push_back({ranks, number<int>(words.next())});
    } else if (key == "stream") {
      remember(streams_, std::string(value), plan_.streams.size(), "stream");
      plan_.streams.push_back(stream_called(std::string(value)));
    } else if (key == "takes_event") {
      events_.emplace(value, static_cast<std::uint32_t>(plan_.taken_events.size()));
      plan_.taken_events.emplace_back(value);
    } else if (key == "leaves_event") {
      left_event(value, words);
    } else if (key == "pass") {
      passes_.emplace(value, static_cast<std::uint16_t>(plan_.passes.size()));
      if (plan_.passes.size() >= k_most_passes) throw Malformed{"more passes than any plan"};
      plan_.passes.emplace_back(value);
    } else {
      throw Malformed{fmt::format("unknown line '{:.80}'", key)};
    }
  }

  void left_event(std::string_view name, Words& words) {
    LeftEvent event{std::string(name), std::nullopt};
    if (words.next() == "after") event.instruction = InstructionId{number<std::uint32_t>(words.next())};
    plan_.left_events.push_back(std::move(event));
  }

  static void expect(Words& words, std::string_view wanted) {
    const std::string_view found = words.next();
    if (found != wanted) throw Malformed{fmt::format("expected '{:.80}', found '{:.80}'", wanted, found)};
  }

  template <typename Id>
  using Names = std::unordered_map<std::string, Id>;

  template <typename Id>
  static Id find(const Names<Id>& names, std::string_view name, std::string_view kind) {
    const auto found = names.find(std::string(name));
    if (found == names.end()) throw Malformed{fmt::format("unknown {} '{:.80}'", kind, name)};
    return found->second;
  }
  template <typename Id>
  static void remember(Names<Id>& names, const std::string& name, std::size_t index, std::string_view kind) {
    if (!names.emplace(name, make_id<Id>(index)).second)
      throw Malformed{fmt::format("{} '{:.80}' twice", kind, name)};
  }
  GroupId find_group(std::string_view text) const {
    const RankSet wanted = known(parse_rank_set(text), "group", text);
    const auto found = groups_.find(wanted);
    if (found == groups_.end()) throw Malformed{fmt::format("unknown group '{:.80}'", text)};
    return found->second;
  }

  void unit(Words& words) {
    PlanUnit unit;
    unit.name = words.next();
    expect(words, "elements");
    unit.elements = number<std::int64_t>(words.next());
    expect(words, "padded");
    unit.padded_elements = number<std::int64_t>(words.next());
    expect(words, "module");
    unit.module_path = words.next();
    if (unit.module_path == ".") unit.module_path.clear();
    remember(units_, unit.name, plan_.units.size(), "unit");
    plan_.units.push_back(std::move(unit));
  }

  void segment(Words& words) {
    PlanSegment segment;
    segment.name = words.next();
    expect(words, "unit");
    segment.unit = find(units_, words.next(), "unit");
    expect(words, "operators");
    const auto [begin, end] = range(words.next());
    segment.begin = OperatorId{begin};
    segment.end = OperatorId{end};
    expect(words, "forward_peak");
    segment.forward_peak.value = number<std::int64_t>(words.next());
    expect(words, "backward_peak");
    segment.backward_peak.value = number<std::int64_t>(words.next());
    if (const std::string_view more = words.next(); !more.empty()) {
      if (more != "recompute_end")
        throw Malformed{fmt::format("expected recompute_end, found '{:.80}'", more)};
      segment.recompute_end = OperatorId{number<std::uint32_t>(words.next())};
      expect(words, "recompute_peak");
      segment.recompute_peak.value = number<std::int64_t>(words.next());
    }
    remember(segments_, segment.name, plan_.segments.size(), "segment");
    plan_.segments.push_back(std::move(segment));
  }

  static std::pair<std::uint32_t, std::uint32_t> range(std::string_view word) {
    const std::size_t dots = word.find("..");
    const auto first = number<std::uint32_t>(word.substr(0, dots));
    if (dots == std::string_view::npos) return {first, first};
    return {first, number<std::uint32_t>(word.substr(dots + 2))};
  }

  void buffer(Words& words) {
    Buffer buffer;
    buffer.name = words.next();
    buffer.role = role_of_name(buffer.name);
    const std::string_view buffer_class = words.next();
    buffer.buffer_class = known(parse_word<BufferClass>(buffer_class), "buffer class", buffer_class);
    const std::string_view dtype = words.next();
    buffer.dtype = known(parse_dtype(dtype), "dtype", dtype);
    expect(words, "x");
    buffer.elements = number<std::int64_t>(words.next());
    const std::string_view space = words.next();
    buffer.space = known(parse_word<MemorySpace>(space), "memory space", space);
    expect(words, "on");
    buffer.stream = find(streams_, words.next(), "stream");
    for (std::string_view key = words.next(); !key.empty(); key = words.next())
      buffer_detail(key, words, buffer);
    remember(buffers_, buffer.name, plan_.buffers.size(), "buffer");
    plan_.buffers.push_back(std::move(buffer));
  }

  void buffer_detail(std::string_view key, Words& words, Buffer& buffer) {
    if (key == "unit") {
      buffer.unit = find(units_, words.next(), "unit");
    } else if (key == "tensor") {
      buffer.tensor = TensorId{number<std::uint32_t>(words.next())};
    } else if (key == "saved_by") {
      buffer.saved_by = find(segments_, words.next(), "segment");
    } else if (key == "mb") {
      buffer.micro_batch = number<int>(words.next());
    } else if (key == "layout") {
      const std::string_view layout = words.next();
      buffer.layout = known(parse_word<BufferLayout>(layout), "layout", layout);
    } else if (key == "over") {
      buffer.shards = number<int>(words.next());
    } else if (key == "align") {
      buffer.alignment = number<int>(words.next());
    } else if (key == "from") {
      buffer.first = number<std::int64_t>(words.next());
    } else if (key == "align_end") {
      buffer.end_alignment = number<int>(words.next());
    } else if (key == "of") {
      buffer.parameters = parameters(words.next());
    } else if (key == "within") {
      const BufferId pool = find(buffers_, words.next(), "buffer");
      expect(words, "at");
      buffer.within = {pool, number<std::int64_t>(words.next())};
    } else if (key == "carried") {
      buffer.carried = true;
    } else if (key == "kept") {
      buffer.kept = true;
    } else {
      throw Malformed{fmt::format("unknown word '{:.80}'", key)};
    }
  }

  template <typename Each>
  static void split(std::string_view list, Each each) {
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      each(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }

  std::vector<ParameterId> parameters(std::string_view list) {
    std::vector<ParameterId> ids;
    if (list == "-") return ids;
    split(list, [&](std::string_view item) {
      const auto [first, last] = range(item);
      if (last < first) throw Malformed{fmt::format("bad range '{:.80}'", item)};
      parameters_ += std::size_t{last} - first + 1;
      if (parameters_ > k_most_parameters)
        throw Malformed{fmt::format("with '{:.80}' buffers hold more parameters than any plan", item)};
      // The counter has 64 bits, for it goes past the last.
      for (std::uint64_t id = first; id <= last; ++id)
        ids.push_back(ParameterId{static_cast<std::uint32_t>(id)});
    });
    return ids;
  }

  void instruction(std::size_t index, Words& words) {
    if (index != plan_.instructions.size()) {
      throw Malformed{fmt::format("instruction {} where {} was expected", index, plan_.instructions.size())};
    }
    Instruction instruction;
    instruction.stream = find(streams_, words.next(), "stream");
    const std::string_view kind = words.next();
    instruction.kind = known(parse_word<InstructionKind>(kind), "instruction", kind);
    for (std::string_view key = words.next(); !key.empty(); key = words.next())
      instruction_detail(key, words.next(), instruction);
    plan_.instructions.push_back(std::move(instruction));
  }

  void instruction_detail(std::string_view key, std::string_view value, Instruction& instruction) const {
    const auto names = [&](std::vector<BufferId>& list) {
      split(value, [&](std::string_view name) { list.push_back(find(buffers_, name, "buffer")); });
    };
    if (key == "unit") {
      instruction.unit = find(units_, value, "unit");
    } else if (key == "segment") {
      instruction.segment = find(segments_, value, "segment");
    } else if (key == "mb") {
      instruction.micro_batch = number<int>(value);
    } else if (key == "group") {
      instruction.group = find_group(value);
    } else if (key == "reduce") {
      instruction.reduce = known(parse_word<ReduceOperation>(value), "reduction", value);
    } else if (key == "root") {
      instruction.root = number<int>(value);
    } else if (key == "guard") {
      instruction.guard = known(parse_word<Guard>(value), "guard", value);
    } else if (key == "bytes") {
      instruction.bytes.value = number<std::int64_t>(value);
    } else if (key == "reads") {
      names(instruction.reads);
    } else if (key == "writes") {
      names(instruction.writes);
    } else if (key == "allocates") {
      names(instruction.allocates);
    } else if (key == "frees") {
      names(instruction.frees);
    } else if (key == "waits") {
      split(value, [&](std::string_view wait) {
        instruction.waits.push_back(InstructionId{number<std::uint32_t>(wait)});
      });
    } else if (key == "waits_event") {
      instruction.taken_event = find(events_, value, "event");
    } else if (key == "recorded") {
      if (value != "yes") throw Malformed{fmt::format("expected 'recorded yes', found '{:.80}'", value)};
      instruction.recorded = true;
    } else if (key == "pass") {
      instruction.pass = find(passes_, value, "pass");
    } else {
      throw Malformed{fmt::format("unknown word '{:.80}'", key)};
    }
  }

  StepPlan plan_;
  Names<UnitId> units_;
  Names<SegmentId> segments_;
  Names<StreamId> streams_;
  Names<BufferId> buffers_;
  Names<std::uint32_t> events_;
  Names<std::uint16_t> passes_;
  std::map<RankSet, GroupId> groups_;
  std::size_t parameters_ = 0;  // that buffers hold, each counted for every one
};

}  // namespace

Result<StepPlan> parse_plan(std::string_view text, const std::string& name) {
  PlanParser parser;
  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    try {
      if (!text.starts_with('#')) parser.line(text.substr(0, end));
    } catch (const Malformed& error) {
      return bad_input(in_file(std::string(name), line_number), error.what,
                       "docs/plan-format.md describes the format");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.take();
}

}  // namespace shardlab
