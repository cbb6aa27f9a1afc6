// Reads the events one by one, without a tree of the whole file, which would take many times its size.
#include "engine/formats/profiler/profiler_trace.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/formats/profiler/event_fields.h"
#include "engine/formats/profiler/trace_file.h"

namespace shardlab {

namespace {

// Where in the file the reader is; everything else is passed over, however deep it goes.
enum class Within { outside, event, arguments, distributed, device };

// The library's own words, without what it read last, which may be no text at all:
// "[...] parse error at line 1, column 1: syntax error while parsing value - invalid literal; last read:
// 'D'".
std::string reason_of(std::string_view message) {
  message = message.substr(0, message.find("; last read"));
  for (const std::string_view before : {" - ", "] "}) {
    const std::size_t at = message.rfind(before);
    if (at != std::string_view::npos) return std::string(message.substr(at + before.size()));
  }
  return std::string(message);
}

class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  ProfilerTrace take() { return table_.take(); }
  bool has_list() const { return has_list_; }
  const std::string& error() const { return error_; }
  std::size_t error_at() const { return error_at_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& written) override { return number(written); }
  bool string(string_t& value) override { return text(value); }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    key_.swap(name);
    return true;
  }

  bool start_object(std::size_t) override {
    ++depth_;
    if (in_list_ && depth_ == list_depth_ + 1) {
      fields_ = {};
      place_ = Within::event;
    } else if (place_ == Within::event && depth_ == list_depth_ + 2 && key_ == "args") {
      place_ = Within::arguments;
    } else if (depth_ == 2 && key_ == "distributedInfo") {
      place_ = Within::distributed;
    } else if (depth_ == 3 && in_devices_) {
      place_ = Within::device;
    }
    return true;
  }

  bool end_object() override {
    --depth_;
    if (place_ == Within::arguments && depth_ == list_depth_ + 1) {
      place_ = Within::event;
    } else if (place_ == Within::event && depth_ == list_depth_) {
      table_.add(fields_);
      place_ = Within::outside;
    } else if ((place_ == Within::distributed && depth_ == 1) || (place_ == Within::device && depth_ == 2)) {
      place_ = Within::outside;
    }
    return true;
  }

  // The list of events is the file itself, or a member of the object that the file is.
  bool start_array(std::size_t) override {
    ++depth_;
    const bool is_list = depth_ == 1 || (depth_ == 2 && key_ == "traceEvents");
    if (is_list && !in_list_) {
      in_list_ = has_list_ = true;
      list_depth_ = depth_;
    }
    in_devices_ = in_devices_ || (depth_ == 2 && key_ == "deviceProperties");
    return true;
  }
  bool end_array() override {
    if (in_list_ && depth_ == list_depth_) in_list_ = false;
    if (depth_ == 2) in_devices_ = false;
    if (place_ == Within::arguments) fields_.end_of_list(key_);
    --depth_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    error_ = reason_of(problem.what());
    error_at_ = position;
    return false;
  }

 private:
  bool at(int depth) const { return depth_ == depth; }

  bool number(const std::string& value) {
    if (place_ == Within::event && at(list_depth_ + 1)) fields_.number(key_, value);
    argument(value);
    if (place_ == Within::distributed && at(2)) table_.distributed(key_, value);
    if (place_ == Within::device && at(3)) table_.device(key_, value);
    if (at(1) && !in_list_ && key_ == "baseTimeNanoseconds") table_.base_time(value);
    return true;
  }
  void argument(const std::string& value) {
    if (place_ != Within::arguments) return;
    if (at(list_depth_ + 2))
      fields_.argument(key_, value);
    else
      fields_.element(key_, value);
  }
  bool text(const std::string& value) {
    if (place_ == Within::event && at(list_depth_ + 1)) fields_.text(key_, value);
    argument(value);
    if (place_ == Within::device && at(3)) table_.device(key_, value);
    return true;
  }

  EventTable table_;
  EventFields fields_;
  Within place_ = Within::outside;
  std::string key_;
  int depth_ = 0, list_depth_ = 0;
  bool in_list_ = false, has_list_ = false, in_devices_ = false;
  std::string error_;
  std::size_t error_at_ = 0;
};

tl::unexpected<Error> is_empty(const std::string& where) {
  return bad_input(in_file(where), "is empty", "the profiler writes its trace when it stops");
}

// What the reader made of a text, read to its end or to where it is none; `size` is its size where it was
// read to its end.
Result<ProfilerTrace> outcome_of(Reader& reader, bool whole, std::optional<std::size_t> size,
                                 const std::string& where) {
  if (!whole && size && reader.error_at() >= *size)
    return bad_input(in_file(where), fmt::format("ends in the middle, after {} bytes", *size),
                     "it was cut off: copy it again once the program that writes it has ended");
  if (!whole)
    return bad_input(in_file(where),
                     fmt::format("is no JSON: at byte {}: {}", reader.error_at(), reader.error()),
                     "torch.profiler's export_chrome_trace() writes the file that is read here");
  if (!reader.has_list())
    return bad_input(in_file(where), "is JSON, but no trace: it has no list traceEvents",
                     "torch.profiler's export_chrome_trace() writes the file that is read here");
  return reader.take();
}

}  // namespace

Result<ProfilerTrace> parse_profiler_trace(std::string_view text, const std::string& where) {
  if (text.empty()) return is_empty(where);
  Reader reader;
  const bool whole = nlohmann::json::sax_parse(text, &reader);
  return outcome_of(reader, whole, text.size(), where);
}

Result<ProfilerTrace> read_profiler_trace(const std::filesystem::path& file) {
  SHARDLAB_TRY(TraceText text, TraceText::open(file, k_longest_trace));
  const TraceIterator begin(text);
  if (begin == TraceIterator() && !text.error()) return is_empty(file.string());
  Reader reader;
  const bool whole = nlohmann::json::sax_parse(begin, TraceIterator(), &reader);
  if (text.error()) return fail(*text.error());
  return outcome_of(reader, whole,
                    text.is_at_end() ? std::optional(static_cast<std::size_t>(text.size())) : std::nullopt,
                    file.string());
}

}  // namespace shardlab
