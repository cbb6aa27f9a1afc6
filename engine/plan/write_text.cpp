#include <string_view>

#include <fmt/format.h>

#include "engine/plan/text.h"

namespace shardlab {
namespace {

class PlanWriter {
 public:
  PlanWriter(const StepPlan& plan, bool aligned) : plan_(plan), aligned_(aligned) {
    out_.reserve(plan.instructions.size() * 120 + plan.buffers.size() * 100);
  }

  std::string write() {
    header();
    for (const Buffer& buffer : plan_.buffers) write_buffer(buffer);
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) write_instruction(i, plan_.instructions[i]);
    return fmt::to_string(out_);
  }

 private:
  template <typename... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(out_), format, std::forward<Arguments>(arguments)...);
  }

  void header() {
    put("plan 1\nphase {}\nstrategy {}\ngraph {}\nworld {}\nmicro_batches {}\n", to_string(plan_.phase),
        plan_.strategy, plan_.graph_hash, plan_.world_size, plan_.micro_batches);
    for (const Group& group : plan_.groups) put("group {} size {}\n", to_text(group.ranks), group.size);
    for (const Stream& stream : plan_.streams) put("stream {}\n", stream.name);
    for (const PlanUnit& unit : plan_.units) {
      put("unit {} elements {} padded {} module {}\n", unit.name, unit.elements, unit.padded_elements,
          unit.module_path.empty() ? "." : unit.module_path);
    }
    for (const PlanSegment& segment : plan_.segments) {
      put("segment {} unit {} operators {}..{} forward_peak {} backward_peak {}", segment.name,
          plan_.units[segment.unit.index()].name, segment.begin.value, segment.end.value,
          segment.forward_peak.value, segment.backward_peak.value);
      if (segment.recompute_end)
        put(" recompute_end {} recompute_peak {}", segment.recompute_end->value,
            segment.recompute_peak.value);
      put("\n");
    }
    for (const std::string& event : plan_.taken_events) put("takes_event {}\n", event);
    for (const LeftEvent& event : plan_.left_events) {
      put("leaves_event {}", event.name);
      if (event.instruction) put(" after {}", event.instruction->value);
      put("\n");
    }
    if (!aligned_) return;
    for (const std::string& pass : plan_.passes) put("pass {}\n", pass);
  }

  void write_buffer(const Buffer& buffer) {
    put("buffer {} {} {} x {} {} on {}", buffer.name, to_string(buffer.buffer_class), to_string(buffer.dtype),
        buffer.elements, to_string(buffer.space), plan_.streams[buffer.stream.index()].name);
    if (buffer.unit) put(" unit {}", plan_.units[buffer.unit->index()].name);
    if (buffer.tensor) put(" tensor {}", buffer.tensor->value);
    if (buffer.saved_by) put(" saved_by {}", plan_.segments[buffer.saved_by->index()].name);
    if (buffer.micro_batch) put(" mb {}", *buffer.micro_batch);
    if (buffer.layout != BufferLayout::opaque) {
      put(" layout {}", to_string(buffer.layout));
      if (buffer.shards != 1) put(" over {}", buffer.shards);
      if (buffer.alignment != 1) put(" align {}", buffer.alignment);
      if (buffer.first != 0) put(" from {}", buffer.first);
      if (buffer.end_alignment != 1) put(" align_end {}", buffer.end_alignment);
      put(" of ");
      write_parameters(buffer.parameters);
    }
    if (buffer.within) put(" within {} at {}", plan_.buffer(buffer.within->pool).name, buffer.within->first);
    if (buffer.carried) put(" carried");
    if (buffer.kept) put(" kept");
    out_.push_back('\n');
  }

  // Runs of consecutive ids as a..b, separated by commas; "-" for none.
  void write_parameters(const std::vector<ParameterId>& parameters) {
    if (parameters.empty()) out_.push_back('-');
    for (std::size_t i = 0; i < parameters.size();) {
      std::size_t end = i + 1;
      while (end < parameters.size() && parameters[end].value == parameters[end - 1].value + 1) ++end;
      put("{}{}", i == 0 ? "" : ",", parameters[i].value);
      if (end > i + 1) put("..{}", parameters[end - 1].value);
      i = end;
    }
  }

  void write_instruction(std::size_t index, const Instruction& instruction) {
    if (aligned_) {
      put("{:>5}  {:<14}  {:<14}", index, plan_.streams[instruction.stream.index()].name,
          to_string(instruction.kind));
    } else {
      put("{} {} {}", index, plan_.streams[instruction.stream.index()].name, to_string(instruction.kind));
    }
    if (instruction.unit) put(" unit {}", plan_.units[instruction.unit->index()].name);
    if (instruction.segment) put(" segment {}", plan_.segments[instruction.segment->index()].name);
    if (instruction.micro_batch) put(" mb {}", *instruction.micro_batch);
    if (instruction.group) put(" group {}", to_text(plan_.groups[instruction.group->index()].ranks));
    if (instruction.reduce != ReduceOperation::none) put(" reduce {}", to_string(instruction.reduce));
    if (instruction.root != 0) put(" root {}", instruction.root);
    if (instruction.guard != Guard::none) put(" guard {}", to_string(instruction.guard));
    if (instruction.bytes.value != 0) put(" bytes {}", instruction.bytes.value);
    write_names("reads", instruction.reads);
    write_names("writes", instruction.writes);
    write_names("allocates", instruction.allocates);
    write_names("frees", instruction.frees);
    for (std::size_t i = 0; i < instruction.waits.size(); ++i) {
      put("{}{}", i == 0 ? " waits " : ",", instruction.waits[i].value);
    }
    if (instruction.taken_event) put(" waits_event {}", plan_.taken_events[*instruction.taken_event]);
    if (instruction.recorded) put(" recorded yes");
    if (aligned_) put(" pass {}", plan_.passes[instruction.pass]);
    out_.push_back('\n');
  }

  void write_names(std::string_view key, const std::vector<BufferId>& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (i == 0) {
        put(" {} ", key);
      } else {
        out_.push_back(',');
      }
      out_.append(std::string_view(plan_.buffer(buffers[i]).name));
    }
  }

  const StepPlan& plan_;
  bool aligned_;
  fmt::memory_buffer out_;  // faster to write to than a string
};

}  // namespace

std::string to_text(const StepPlan& plan) {
  return PlanWriter(plan, /*aligned=*/true).write();
}
std::string canonical_text(const StepPlan& plan) {
  return PlanWriter(plan, /*aligned=*/false).write();
}

}  // namespace shardlab
