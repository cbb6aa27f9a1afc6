#include "engine/formats/profiler/event_fields.h"

#include "engine/formats/profiler/seen_marks.h"
#include "engine/formats/profiler/work_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace shardlab {
namespace {

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::string_view k_python_function = "python_function";  // with_stack=True

// Microseconds as written, to the nanosecond: a double of a time since 1970 would be off by a quarter of a
// microsecond. Absent where it is no plain decimal number, or beyond what a clock shows.
std::optional<Nanoseconds> time_of(std::string_view text) {
  constexpr std::int64_t k_most = std::int64_t{1} << 52;  // microseconds: 140 years
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = integer(text.substr(0, point));
  if (!whole || std::abs(*whole) > k_most) return std::nullopt;
  std::string decimals(text.substr(std::min(point + 1, text.size())));
  decimals.resize(3, '0');
  const auto fraction = integer(decimals);
  if (!fraction || *fraction < 0) return std::nullopt;
  const bool negative = !text.empty() && text.front() == '-';
  return Nanoseconds{*whole * 1000 + (negative ? -*fraction : *fraction)};
}

// The names of PyTorch 1.12 and later; before, the words of Kineto's own types.
std::optional<ProfilerCategory> category_of(std::string_view name) {
  using C = ProfilerCategory;
  constexpr std::array<std::pair<std::string_view, C>, 15> k_categories = {
      {{"cpu_op", C::operation},
       {"Operator", C::operation},
       {"user_annotation", C::annotation},
       {"cuda_runtime", C::launch},
       {"cuda_driver", C::launch},
       {"Runtime", C::launch},
       {"hip_runtime", C::launch},
       {"runtime", C::launch},
       {"kernel", C::kernel},
       {"Kernel", C::kernel},
       {"gpu_memcpy", C::copy},
       {"Memcpy", C::copy},
       {"gpu_memset", C::copy},
       {"Memset", C::copy},
       {"hip_driver", C::launch}}};
  for (const auto& [known, category] : k_categories)
    if (known == name) return category;
  return std::nullopt;
}

}  // namespace

void EventFields::number(std::string_view key, const std::string& value) {
  if (key == "ts") at = time_of(value);
  if (key == "dur") duration = time_of(value);
  text(key, value);
}

// Threads and processes are numbers or names.
void EventFields::text(std::string_view key, const std::string& value) {
  if (key == "ph") phase = value;
  if (key == "cat") category = value;
  if (key == "name") name = value;
  if (key == "pid") process = value;
  if (key == "tid") thread = value;
}

void EventFields::argument(std::string_view key, const std::string& value) {
  if (key == "correlation") correlation = integer(value);
  if (key == "Total Allocated") allocated = integer(value);
  if (key == "Device Type") device_type = integer(value);
  if (key == "instruction") has_instruction = true;
  if (key == "Collective name") {
    is_collective = true;
    collective.name = value;
  }
  if (key == "dtype") collective.dtype = value;
  if (key == "In msg nelems") collective.elements_in = integer(value).value_or(0);
  if (key == "Out msg nelems") collective.elements_out = integer(value).value_or(0);
  if (key == "Group size") collective.group_size = integer(value).value_or(0);
}

void EventFields::element(std::string_view key, const std::string& value) {
  // For one dimension, and for a tensor's elements so far.
  constexpr std::int64_t k_most = std::int64_t{1} << 31;
  if (key == "Input type" && input_type.empty()) input_type = value;
  if (key != "Input Dims") return;
  const std::int64_t before = dimensions_.value_or(1), size = integer(value).value_or(0);
  dimensions_ = size > 0 && size <= k_most && before <= k_most ? before * size : 0;
}

void EventFields::end_of_list(std::string_view key) {
  if (key != "Input Dims" || !dimensions_) return;
  constexpr std::int64_t k_most = std::int64_t{1} << 50;
  input_elements = std::min(k_most, input_elements + std::min(k_most, *dimensions_));
  dimensions_.reset();
}

void EventTable::add_function(const std::string& name) {
  constexpr std::size_t k_most = 100'000;
  if (functions_.size() < k_most && says_who_trains(name) && functions_.insert(name).second)
    trace_.functions.push_back(name);
}

std::uint32_t EventTable::name_index(const std::string& name) {
  const auto [found, added] = names_.try_emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
  if (added) trace_.names.push_back(name);
  return found->second;
}

std::uint32_t EventTable::thread_index(const EventFields& fields) {
  const auto [found, added] = threads_.try_emplace({fields.process, fields.thread},
                                                   static_cast<std::uint32_t>(trace_.threads.size()));
  if (added) trace_.threads.push_back({fields.process, fields.thread});
  return found->second;
}

void EventTable::add(EventFields& fields) {
  trace_.written_by_shardlab = trace_.written_by_shardlab || fields.has_instruction;
  if (!fields.at) return;
  if (fields.name == "[memory]" && fields.allocated) {
    trace_.memory.push_back({*fields.at, Bytes{std::max<std::int64_t>(0, *fields.allocated)},
                             fields.device_type.value_or(0) != 0});
    return;
  }
  if (fields.category == k_python_function) add_function(fields.name);
  const auto category = category_of(fields.category);
  if (fields.phase != "X" || !category || !fields.duration || fields.duration->value < 0) return;
  ProfilerEvent event{*category, name_index(fields.name), thread_index(fields), *fields.at,
                      *fields.at + *fields.duration};
  event.correlation = fields.correlation;
  if (!fields.is_collective && is_gloo(fields.name)) {
    fields.is_collective = true;
    fields.collective = {fields.name, fields.input_type, fields.input_elements, 0, 0};
  }
  if (fields.is_collective) {
    event.collective = static_cast<std::uint32_t>(trace_.collectives.size());
    trace_.collectives.push_back(std::move(fields.collective));
  }
  trace_.events.push_back(event);
}

void EventTable::distributed(std::string_view key, const std::string& value) {
  constexpr std::int64_t k_most = 1 << 20;
  const auto number = integer(value);
  if (!number || *number < 0 || *number > k_most) return;
  if (key == "rank") trace_.rank = static_cast<int>(*number);
  if (key == "world_size" && *number > 0) trace_.world_size = static_cast<int>(*number);
  if (key == "pg_count") trace_.process_groups = static_cast<int>(*number);
}

void EventTable::device(std::string_view key, const std::string& value) {
  if (key == "name" && trace_.device.empty()) trace_.device = value;
  if (key == "totalGlobalMem" && !trace_.device_memory)
    if (const auto bytes = integer(value); bytes && *bytes > 0) trace_.device_memory = Bytes{*bytes};
}

void EventTable::base_time(const std::string& value) {
  if (const auto time = integer(value)) trace_.base_time = Nanoseconds{*time};
}

}  // namespace shardlab
