#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/plan/unit_sizes.h"
#include "engine/report/unit_warnings.h"
#include "simulator/lessons/figure_list.h"
#include "simulator/lessons/found_instruction.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

std::vector<InstructionId> of_kind(const FigureSubject& subject, InstructionKind kind) {
  std::vector<InstructionId> found;
  for (std::size_t i = 0; i < subject.plan().instructions.size(); ++i) {
    if (subject.plan().instructions[i].kind == kind) found.push_back(make_id<InstructionId>(i));
  }
  return found;
}

Result<Value> count(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const InstructionKind kind, word_of<InstructionKind>(rest[0]));
  return number_value(static_cast<double>(of_kind(subject, kind).size()));
}

Value label(const FigureSubject& subject, InstructionId id) {
  return text_value(instruction_label(subject.plan(), id));
}

// The n-th from 1, or from the end with a negative number.
Result<Value> instruction(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string text, text_of(rest[0]));
  if (rest.size() == 1) {
    SHARDLAB_TRY(const InstructionId id, found_instruction(subject.plan(), text));
    return label(subject, id);
  }
  SHARDLAB_TRY(const InstructionKind kind, word_of<InstructionKind>(rest[0]));
  const std::vector<InstructionId> all = of_kind(subject, kind);
  const auto wanted = static_cast<std::ptrdiff_t>(rest[1].number);
  const std::ptrdiff_t place = wanted < 0 ? static_cast<std::ptrdiff_t>(all.size()) + wanted : wanted - 1;
  if (rest[1].kind != ValueKind::number || place < 0 || place >= static_cast<std::ptrdiff_t>(all.size()))
    return bad_input({}, fmt::format("the plan has {} of {}", all.size(), text));
  return label(subject, all[static_cast<std::size_t>(place)]);
}

Result<Value> peak_instruction(const FigureSubject& subject, Rest) {
  if (!subject.summary->memory) return not_possible({}, "the run recorded no memory");
  return label(subject, subject.summary->memory->peak_instruction);
}

Result<Value> longest(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const InstructionKind kind, word_of<InstructionKind>(rest[0]));
  const Span* best = nullptr;
  for (const Span& span : subject.rank().spans) {
    if (subject.plan().instruction(span.instruction).kind != kind) continue;
    if (best == nullptr || span.end - span.start > best->end - best->start) best = &span;
  }
  if (best == nullptr) return bad_input({}, "the plan has none of this kind");
  return label(subject, best->instruction);
}

Result<Value> place_of_instruction(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string text, text_of(rest[0]));
  SHARDLAB_TRY(const InstructionId id, found_instruction(subject.plan(), text));
  return number_value(static_cast<double>(id.index()));
}

Result<Value> bytes_of_instruction(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string text, text_of(rest[0]));
  SHARDLAB_TRY(const InstructionId id, found_instruction(subject.plan(), text));
  return bytes_value(subject.plan().instruction(id).bytes);
}

Result<Value> unit_bytes(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const std::string text, text_of(rest[0]));
  for (std::size_t i = 0; i < subject.plan().units.size(); ++i) {
    if (subject.plan().units[i].name == text)
      return bytes_value(gathered_bytes(subject.plan(), make_id<UnitId>(i)));
  }
  return bad_input({}, fmt::format("the plan has no unit '{}'", text), "root, u0, u1 ...");
}

Result<Value> largest_unit(const FigureSubject& subject, Rest) {
  const std::vector<Bytes> gathered = gathered_bytes(subject.plan());
  return bytes_value(gathered.empty() ? Bytes() : *std::max_element(gathered.begin(), gathered.end()));
}

// The dtype of the first buffer of a class.
Result<Value> dtype_of(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const BufferClass wanted, word_of<BufferClass>(rest[0]));
  for (const Buffer& buffer : subject.plan().buffers) {
    if (buffer.buffer_class == wanted) return text_value(std::string(to_string(buffer.dtype)));
  }
  return bad_input({}, "the plan has no buffer of this class");
}

constexpr std::array k_plans_figures = {
    FigureFunction{"count", "a, kind", 1, 1, "how many instructions of a kind the steady plan has", count},
    FigureFunction{"instructions", "a", 0, 0, "how many instructions it has",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(subject.plan().instructions.size()));
                   }},
    FigureFunction{
        "instruction", "a, kind, n", 1, 2,
        "the name of the n-th of a kind, from the end where n is negative; or of the first that is "
        "called so",
        instruction},
    FigureFunction{"place", "a, instruction", 1, 1, "its number in the plan", place_of_instruction},
    FigureFunction{"bytes_of", "a, instruction", 1, 1, "bytes of a collective, counted whole",
                   bytes_of_instruction},
    FigureFunction{"peak_instruction", "a", 0, 0, "the name of the instruction in which memory is highest",
                   peak_instruction},
    FigureFunction{"longest", "a, kind", 1, 1, "the name of the one of a kind that takes longest", longest},
    FigureFunction{"units", "a", 0, 0, "how many units are gathered together, the root among them",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(subject.plan().units.size()));
                   }},
    FigureFunction{"unit_bytes", "a, unit", 1, 1, "a unit gathered: root, u0, u1 ...", unit_bytes},
    FigureFunction{"largest_unit", "a", 0, 0, "the largest unit, gathered", largest_unit},
    FigureFunction{"dtype_of", "a, class", 1, 1, "the dtype of the buffers of a class", dtype_of},
    FigureFunction{"warnings", "a", 0, 0, "how many giant units the program warns of",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(unit_warnings(*subject.planned).size()));
                   }},
};

}  // namespace

std::span<const FigureFunction> figures_of_plans() {
  return k_plans_figures;
}

}  // namespace shardlab::lessons
