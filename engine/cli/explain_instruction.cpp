#include "engine/cli/explain_instruction.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/plan/group_ranks.h"

namespace shardlab {
namespace {

std::string_view purpose_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Forward:
      return "Runs the operators of a segment and keeps what its backward needs.";
    case InstructionKind::Recompute:
      return "Runs operators of a forward again, because their results were not kept.";
    case InstructionKind::Backward:
      return "Runs a segment backwards: gradients of its inputs and parameters; frees what forward kept.";
    case InstructionKind::AllGather:
      return "Collects the slices of all ranks, so that every rank holds the whole.";
    case InstructionKind::ReduceScatter:
      return "Adds up what all ranks hold and leaves each rank its slice of the result.";
    case InstructionKind::Reduce:
      return "Adds up what all ranks hold, on one rank.";
    case InstructionKind::AllReduce:
      return "Adds up what all ranks hold, on every rank.";
    case InstructionKind::Broadcast:
      return "Sends what one rank holds to the others.";
    case InstructionKind::AllToAll:
      return "Every rank sends a part to every other rank.";
    case InstructionKind::Cast:
      return "Converts to another element type.";
    case InstructionKind::Pack:
      return "Copies parameters' pieces into one buffer for communication.";
    case InstructionKind::Unpack:
      return "Copies parameters' pieces out of a communication buffer.";
    case InstructionKind::Quantize:
      return "Converts to a coded element type with scales.";
    case InstructionKind::Copy:
      return "Copies.";
    case InstructionKind::Accumulate:
      return "Adds to what is there.";
    case InstructionKind::Alloc:
      return "Takes memory, at its place in the host's order.";
    case InstructionKind::Free:
      return "Gives memory back, at its place in the host's order.";
    case InstructionKind::HostWait:
      return "Blocks the host until earlier work is done; nothing later is issued meanwhile.";
    case InstructionKind::GradientNorms:
      return "Squares and sums the gradients this rank holds, parameter by parameter.";
    case InstructionKind::Unscale:
      return "Divides the gradients by the loss scale.";
    case InstructionKind::ClipGradients:
      return "Scales the gradients down to the norm that the scenario allows.";
    case InstructionKind::OptimizerStep:
      return "Updates parameters and optimizer states from the gradients.";
    case InstructionKind::ZeroGradients:
      return "Drops the gradients of this step.";
    case InstructionKind::Initialize:
      return "Fills parameters from the seed or from a file.";
    case InstructionKind::LoadBatch:
      return "Brings the next micro-batch of tokens.";
    case InstructionKind::Marker:
      return "Marks a point of the step.";
  }
  return "";
}

struct Neighbours {
  std::optional<InstructionId> previous_on_stream;
  std::vector<InstructionId> waited_for_by;  // on any stream
  std::vector<InstructionId> read_by;        // later readers of what it writes
};

bool contains(const std::vector<BufferId>& buffers, BufferId id) {
  return std::find(buffers.begin(), buffers.end(), id) != buffers.end();
}

// Later readers of what `id` writes, until the buffer is freed or allocated anew.
std::vector<InstructionId> readers_of(const StepPlan& step, InstructionId id) {
  std::vector<InstructionId> readers;
  std::vector<BufferId> written(step.instruction(id).writes.begin(), step.instruction(id).writes.end());
  for (std::size_t i = id.index() + 1; i < step.instructions.size() && !written.empty(); ++i) {
    const Instruction& other = step.instructions[i];
    const auto ends = [&](const auto& buffers) {
      std::erase_if(written, [&](BufferId buffer) {
        return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
      });
    };
    ends(other.allocates);
    const bool reads = std::any_of(other.reads.begin(), other.reads.end(),
                                   [&](BufferId buffer) { return contains(written, buffer); });
    if (reads) readers.push_back(make_id<InstructionId>(i));
    ends(other.frees);
  }
  return readers;
}

Neighbours neighbours_of(const StepPlan& step, InstructionId id) {
  Neighbours found;
  const Instruction& self = step.instruction(id);
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    const Instruction& other = step.instructions[i];
    const auto other_id = make_id<InstructionId>(i);
    if (i < id.index() && other.stream == self.stream) found.previous_on_stream = other_id;
    if (std::find(other.waits.begin(), other.waits.end(), id) != other.waits.end()) {
      found.waited_for_by.push_back(other_id);
    }
  }
  found.read_by = readers_of(step, id);
  return found;
}

// Lines "name  content", the name only on the first.
class Lines {
 public:
  void add(std::string_view name, std::string_view content) {
    fmt::format_to(std::back_inserter(text_), "{:<12} {}\n", name, content);
  }
  void add_buffers(std::string_view name, const StepPlan& step, const std::vector<BufferId>& ids) {
    for (const BufferId id : ids) {
      const Buffer& buffer = step.buffer(id);
      add(id == ids.front() ? name : "",
          fmt::format("{:<24} {:<20} {:<9} {}", buffer.name, to_string(buffer.buffer_class),
                      to_string(buffer.dtype), to_string(buffer.bytes())));
    }
  }
  void add_instructions(std::string_view name, const StepPlan& step, const std::vector<InstructionId>& ids) {
    for (const InstructionId id : ids) {
      add(id == ids.front() ? name : "", fmt::format("{} (on {})", instruction_label(step, id),
                                                     step.streams[step.instruction(id).stream.index()].name));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string memory_line(const StepPlan& step, InstructionId id) {
  const std::vector<Bytes> live = live_bytes_after(step);
  const Bytes before = id.index() == 0 ? carried_bytes(step) : live[id.index() - 1];
  const Bytes change = live[id.index()] - before;
  return fmt::format("{} of the plan's buffers live after it ({}{})", to_string(live[id.index()]),
                     change.value < 0 ? "" : "+", to_string(change));
}

}  // namespace

std::string explain_instruction(const PlannedScenario& planned, const StepPlan& step, InstructionId id,
                                int rank) {
  const Instruction& self = step.instruction(id);
  const Neighbours neighbours = neighbours_of(step, id);
  Lines lines;
  lines.add("instruction", fmt::format("{}   ({} of {} in the {} plan)", instruction_label(step, id),
                                       id.value + 1, step.instructions.size(), step.phase));
  lines.add("", purpose_of(self.kind));
  lines.add("stream", step.streams[self.stream.index()].name);
  if (self.unit)
    lines.add("unit", fmt::format("{} = module {}", step.units[self.unit->index()].name,
                                  step.units[self.unit->index()].module_path));
  if (self.group) {
    const Group& group = step.groups[self.group->index()];
    lines.add("group", fmt::format("{}: ranks {}", group.expression,
                                   fmt::join(ranks_of_group(group, planned.scenario, rank), " ")));
  }
  if (self.reduce != ReduceOperation::none) lines.add("result", to_string(self.reduce));
  if (self.bytes.value > 0)
    lines.add("bytes", to_string(self.bytes) + (is_collective(self.kind) ? " (full side)" : ""));
  lines.add_buffers("reads", step, self.reads);
  lines.add_buffers("writes", step, self.writes);
  lines.add_buffers("allocates", step, self.allocates);
  lines.add_buffers("frees", step, self.frees);
  if (neighbours.previous_on_stream) lines.add_instructions("after", step, {*neighbours.previous_on_stream});
  lines.add_instructions("waits for", step, self.waits);
  lines.add_instructions("awaited by", step, neighbours.waited_for_by);
  lines.add_instructions("read by", step, neighbours.read_by);
  lines.add("memory", memory_line(step, id));
  lines.add("put there by", step.passes[self.pass]);
  return lines.take();
}

Json explanation_json(const PlannedScenario& planned, const StepPlan& step, InstructionId id, int rank) {
  const Instruction& self = step.instruction(id);
  const Neighbours neighbours = neighbours_of(step, id);
  const auto numbers = [](const std::vector<InstructionId>& ids) {
    Json list = Json::array();
    for (const InstructionId other : ids) list.push_back(other.value);
    return list;
  };
  return {
      {"instruction", id.value},
      {"label", instruction_label(step, id)},
      {"purpose", purpose_of(self.kind)},
      {"group",
       self.group ? Json(ranks_of_group(step.groups[self.group->index()], planned.scenario, rank)) : Json()},
      {"previous_on_stream",
       neighbours.previous_on_stream ? Json(neighbours.previous_on_stream->value) : Json()},
      {"waits", numbers(self.waits)},
      {"awaited_by", numbers(neighbours.waited_for_by)},
      {"read_by", numbers(neighbours.read_by)},
      {"live_bytes_after", live_bytes_after(step)[id.index()].value},
      {"pass", step.passes[self.pass]}};
}

}  // namespace shardlab
