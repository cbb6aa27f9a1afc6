#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/plan/text.h"

namespace shardlab {
namespace {

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
    throw Malformed{fmt::format("expected a number, found '{}'", word)};
  return value;
}

template <typename T>
T known(const std::optional<T>& value, std::string_view kind, std::string_view word) {
  if (!value) throw Malformed{fmt::format("unknown {} '{}'", kind, word)};
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
      plan_.groups.push_back({known(parse_rank_set(value), "group", value), number<int>(words.next())});
    } else if (key == "stream") {
      plan_.streams.push_back({std::string(value)});
    } else if (key == "takes_event") {
      plan_.taken_events.emplace_back(value);
    } else if (key == "leaves_event") {
      left_event(value, words);
    } else if (key == "pass") {
      plan_.passes.emplace_back(value);
    } else {
      throw Malformed{fmt::format("unknown line '{}'", key)};
    }
  }

  void left_event(std::string_view name, Words& words) {
    LeftEvent event{std::string(name), std::nullopt};
    if (words.next() == "after") event.instruction = InstructionId{number<std::uint32_t>(words.next())};
    plan_.left_events.push_back(std::move(event));
  }

  static void expect(Words& words, std::string_view wanted) {
    const std::string_view found = words.next();
    if (found != wanted) throw Malformed{fmt::format("expected '{}', found '{}'", wanted, found)};
  }

  template <typename IdType, typename List, typename Project>
  static IdType find(const List& list, std::string_view name, std::string_view kind, Project project) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (project(list[i]) == name) return make_id<IdType>(i);
    }
    throw Malformed{fmt::format("unknown {} '{}'", kind, name)};
  }
  UnitId find_unit(std::string_view name) const {
    return find<UnitId>(plan_.units, name, "unit",
                        [](const PlanUnit& unit) -> std::string_view { return unit.name; });
  }
  SegmentId find_segment(std::string_view name) const {
    return find<SegmentId>(plan_.segments, name, "segment",
                           [](const PlanSegment& s) -> std::string_view { return s.name; });
  }
  StreamId find_stream(std::string_view name) const {
    return find<StreamId>(plan_.streams, name, "stream",
                          [](const Stream& stream) -> std::string_view { return stream.name; });
  }
  GroupId find_group(std::string_view text) const {
    const RankSet wanted = known(parse_rank_set(text), "group", text);
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      if (plan_.groups[i].ranks == wanted) return make_id<GroupId>(i);
    }
    throw Malformed{fmt::format("unknown group '{}'", text)};
  }
  BufferId find_buffer(std::string_view name) const {
    const auto found = buffers_.find(std::string(name));
    if (found == buffers_.end()) throw Malformed{fmt::format("unknown buffer '{}'", name)};
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
    plan_.units.push_back(std::move(unit));
  }

  void segment(Words& words) {
    PlanSegment segment;
    segment.name = words.next();
    expect(words, "unit");
    segment.unit = find_unit(words.next());
    expect(words, "operators");
    const auto [begin, end] = range(words.next());
    segment.begin = OperatorId{begin};
    segment.end = OperatorId{end};
    expect(words, "forward_peak");
    segment.forward_peak.value = number<std::int64_t>(words.next());
    expect(words, "backward_peak");
    segment.backward_peak.value = number<std::int64_t>(words.next());
    if (const std::string_view more = words.next(); !more.empty()) {
      if (more != "recompute_end") throw Malformed{fmt::format("expected recompute_end, found '{}'", more)};
      segment.recompute_end = OperatorId{number<std::uint32_t>(words.next())};
      expect(words, "recompute_peak");
      segment.recompute_peak.value = number<std::int64_t>(words.next());
    }
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
    buffer.stream = find_stream(words.next());
    for (std::string_view key = words.next(); !key.empty(); key = words.next())
      buffer_detail(key, words, buffer);
    if (!buffers_.emplace(buffer.name, make_id<BufferId>(plan_.buffers.size())).second) {
      throw Malformed{fmt::format("buffer '{}' twice", buffer.name)};
    }
    plan_.buffers.push_back(std::move(buffer));
  }

  void buffer_detail(std::string_view key, Words& words, Buffer& buffer) const {
    if (key == "unit") {
      buffer.unit = find_unit(words.next());
    } else if (key == "tensor") {
      buffer.tensor = TensorId{number<std::uint32_t>(words.next())};
    } else if (key == "saved_by") {
      buffer.saved_by = find_segment(words.next());
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
    } else if (key == "carried") {
      buffer.carried = true;
    } else if (key == "kept") {
      buffer.kept = true;
    } else {
      throw Malformed{fmt::format("unknown word '{}'", key)};
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

  static std::vector<ParameterId> parameters(std::string_view list) {
    std::vector<ParameterId> ids;
    if (list == "-") return ids;
    split(list, [&](std::string_view item) {
      const auto [first, last] = range(item);
      if (last < first || last - first > 10'000'000) throw Malformed{fmt::format("bad range '{}'", item)};
      for (std::uint32_t id = first; id <= last; ++id) ids.push_back(ParameterId{id});
    });
    return ids;
  }

  void instruction(std::size_t index, Words& words) {
    if (index != plan_.instructions.size()) {
      throw Malformed{fmt::format("instruction {} where {} was expected", index, plan_.instructions.size())};
    }
    Instruction instruction;
    instruction.stream = find_stream(words.next());
    const std::string_view kind = words.next();
    instruction.kind = known(parse_word<InstructionKind>(kind), "instruction", kind);
    for (std::string_view key = words.next(); !key.empty(); key = words.next())
      instruction_detail(key, words.next(), instruction);
    plan_.instructions.push_back(std::move(instruction));
  }

  void instruction_detail(std::string_view key, std::string_view value, Instruction& instruction) const {
    const auto names = [&](std::vector<BufferId>& list) {
      split(value, [&](std::string_view name) { list.push_back(find_buffer(name)); });
    };
    if (key == "unit") {
      instruction.unit = find_unit(value);
    } else if (key == "segment") {
      instruction.segment = find_segment(value);
    } else if (key == "mb") {
      instruction.micro_batch = number<int>(value);
    } else if (key == "group") {
      instruction.group = find_group(value);
    } else if (key == "reduce") {
      instruction.reduce = known(parse_word<ReduceOperation>(value), "reduction", value);
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
      const auto found = std::find(plan_.taken_events.begin(), plan_.taken_events.end(), value);
      if (found == plan_.taken_events.end()) throw Malformed{fmt::format("unknown event '{}'", value)};
      instruction.taken_event = static_cast<std::uint32_t>(found - plan_.taken_events.begin());
    } else if (key == "recorded") {
      if (value != "yes") throw Malformed{fmt::format("expected 'recorded yes', found '{}'", value)};
      instruction.recorded = true;
    } else if (key == "pass") {
      const auto found = std::find(plan_.passes.begin(), plan_.passes.end(), value);
      if (found == plan_.passes.end()) throw Malformed{fmt::format("unknown pass '{}'", value)};
      instruction.pass = static_cast<std::uint16_t>(found - plan_.passes.begin());
    } else {
      throw Malformed{fmt::format("unknown word '{}'", key)};
    }
  }

  StepPlan plan_;
  std::unordered_map<std::string, BufferId> buffers_;
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
