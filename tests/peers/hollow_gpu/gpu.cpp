#include "tests/peers/hollow_gpu/gpu.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace hollow {
namespace {

// Above any address of the host's.
constexpr std::uint64_t k_first_address = std::uint64_t{1} << 56U, k_last_address = std::uint64_t{1} << 58U;
constexpr std::uint64_t k_page = std::uint64_t{2} << 20U;
constexpr Size k_usual_memory = Size{80} << 30U;

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

Size memory() {
  const std::string_view text = variable("HOLLOW_MEMORY");
  return text.empty() ? k_usual_memory : std::strtoull(text.data(), nullptr, 10);
}

Pace pace() {
  const std::string_view text = variable("HOLLOW_EVENTS");
  if (text == "at_once") return Pace::at_once;
  return text == "apart" ? Pace::apart : Pace::together;
}

void raise(Progress& progress, const Progress& to) {
  for (const auto& [stream, number] : to) progress[stream] = std::max(progress[stream], number);
}

}  // namespace

Gpu::Gpu() : total(memory()), pace(hollow::pace()), next_address(k_first_address) {}

Gpu& gpu() {
  static Gpu the_gpu;
  return the_gpu;
}

bool on_device(const void* address) {
  const auto value = reinterpret_cast<std::uint64_t>(address);
  return value >= k_first_address && value < k_last_address;
}

std::uint64_t place(Size size) {
  const std::uint64_t address = gpu().next_address;
  gpu().next_address += (size + k_page - 1) / k_page * k_page + k_page;
  return address;
}

bool take(Size size) {
  if (gpu().used + size > gpu().total) return false;
  gpu().used += size;
  return true;
}

Event record(const void* stream) {
  Event event{stream, ++gpu().recorded[stream], {}};
  Progress& own = gpu().streams[stream];
  own[stream] = event.number;
  event.needs = gpu().pace == Pace::apart ? own : gpu().recorded;
  if (gpu().pace == Pace::at_once) finish(event.needs);
  return event;
}

void wait(const void* stream, const Event& event) {
  if (event.number > 0) raise(gpu().streams[stream], event.needs);
}

bool is_done(const Event& event) {
  return event.number <= gpu().done[event.stream];
}

void finish(const Progress& progress) {
  raise(gpu().done, progress);
}

}  // namespace hollow
