// Makes a ProfilerTrace of the fields of events, as they come. Private to this folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/formats/profiler/profiler_trace.h"

namespace shardlab {

// One event while it is read.
struct EventFields {
  std::string phase, category, name, process, thread;
  std::optional<Nanoseconds> at, duration;
  std::optional<std::int64_t> correlation, allocated, device_type;
  ProfilerCollective collective;
  bool is_collective = false;
  bool has_instruction = false;     // only our own traces name instructions
  std::int64_t input_elements = 0;  // of all tensors that go in, where shapes were recorded
  std::string input_type;           // of the first of them, in C++'s words

  void number(std::string_view key, const std::string& value);
  void text(std::string_view key, const std::string& value);
  void argument(std::string_view key, const std::string& value);
  // Takes an element of a list that is an argument, or of a list within it; end_of_list() says that the list
  // has ended.
  void element(std::string_view key, const std::string& value);
  void end_of_list(std::string_view key);

 private:
  std::optional<std::int64_t> dimensions_;  // multiplied, of the tensor being read
};

class EventTable {
 public:
  // Takes what is of use; an event whose times make no sense is left out.
  void add(EventFields& fields);
  void distributed(std::string_view key, const std::string& value);
  void device(std::string_view key, const std::string& value);
  void base_time(const std::string& value);

  ProfilerTrace take() { return std::move(trace_); }

 private:
  void add_function(const std::string& name);
  std::uint32_t name_index(const std::string& name);
  std::uint32_t thread_index(const EventFields& fields);

  ProfilerTrace trace_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_set<std::string> functions_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> threads_;
};

}  // namespace shardlab
