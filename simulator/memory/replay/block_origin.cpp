#include "simulator/memory/replay/block_origin.h"

#include <fmt/format.h>

namespace shardlab {
namespace {

bool path_has(std::string_view path, std::string_view piece) {
  return path.find(piece) != std::string_view::npos;
}

bool is_of_torch(std::string_view file) {
  return path_has(file, "-packages/torch/") || path_has(file, "-packages/triton/") ||
         path_has(file, "/pytorch/torch/") || path_has(file, "/torchinductor_") ||
         file.starts_with("<eval_with_key");
}

// Python's own library lies beside the packages that were installed into it.
bool is_of_python(std::string_view file) {
  return file.starts_with("<frozen ") || (path_has(file, "/lib/python3") && !path_has(file, "-packages/"));
}

std::string_view in_package(std::string_view file) {
  constexpr std::string_view k_packages = "-packages/";
  const std::size_t at = file.rfind(k_packages);
  return at == std::string_view::npos ? file : file.substr(at + k_packages.size());
}

// `MmBackward0` of `torch::autograd::generated::MmBackward0::apply(...)`; empty for other functions.
std::string_view node_of_autograd(std::string_view function) {
  constexpr std::string_view k_nodes = "torch::autograd::generated::";
  if (!function.starts_with(k_nodes)) return {};
  function.remove_prefix(k_nodes.size());
  const std::size_t end = function.find("::");
  const bool applies = end != std::string_view::npos && function.substr(end).starts_with("::apply(");
  return applies ? function.substr(0, end) : std::string_view();
}

}  // namespace

FrameOrigin origin_of(const StackFrame& frame) {
  if (const std::string_view node = node_of_autograd(frame.function); !node.empty())
    return {FrameKind::torch, fmt::format("{} (autograd)", node)};
  const bool is_python = frame.file.ends_with(".py") || frame.file.starts_with("<");
  if (!is_python || is_of_python(frame.file)) return {};
  return {is_of_torch(frame.file) ? FrameKind::torch : FrameKind::program,
          fmt::format("{}:{} ({})", in_package(frame.file), frame.line, frame.function)};
}

std::uint32_t BlockOrigins::find(const PickleTree& tree, PickleValue noted) {
  const auto stack = tree.find(noted, "frames");
  if (!stack) return 0;
  if (const auto taken = tree.taken(*stack); taken && tree.kind(*stack) == PickleKind::list)
    return static_cast<std::uint32_t>(*taken);
  return innermost(tree, tree.items(*stack));
}

std::optional<std::uint32_t> BlockOrigins::of_stack(const PickleTree& tree, PickleValue list) {
  const auto frames = tree.items(list);
  if (frames.empty() || !tree.find(frames.front(), "filename")) return std::nullopt;
  return innermost(tree, frames);
}

std::uint32_t BlockOrigins::innermost(const PickleTree& tree, std::span<const PickleValue> frames) {
  const FrameOrigin* best = nullptr;
  for (const PickleValue frame : frames) {
    const FrameOrigin& known = frame_origin(tree, frame);
    if (known.kind == FrameKind::machinery || (best != nullptr && known.kind <= best->kind)) continue;
    best = &known;
    if (best->kind == FrameKind::program) break;
  }
  if (best == nullptr) return 0;
  const auto [found, is_new] = numbers_.try_emplace(best->words, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(best->words);
  return found->second;
}

// Stacks share their frames, and a long history has few of them.
const FrameOrigin& BlockOrigins::frame_origin(const PickleTree& tree, PickleValue frame) {
  const auto [found, is_new] = frames_.try_emplace(frame.bits());
  if (!is_new) return found->second;
  const auto text = [&](std::string_view key) {
    const auto value = tree.find(frame, key);
    return value ? tree.text(*value).value_or("") : std::string_view();
  };
  const auto line = tree.find(frame, "line");
  found->second = origin_of({text("filename"), line ? tree.integer(*line).value_or(0) : 0, text("name")});
  return found->second;
}

}  // namespace shardlab
