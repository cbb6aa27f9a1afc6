#include "engine/base/pickle/pickle_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "engine/base/pickle/pickle_stack.h"

namespace shardlab {
namespace {

// What runs code, or names an object that is not in the file.
std::string_view refused_name(char opcode) {
  switch (opcode) {
    case 'c': return "GLOBAL";
    case '\x93': return "STACK_GLOBAL";
    case 'R': return "REDUCE";
    case 'i': return "INST";
    case 'o': return "OBJ";
    case '\x81': return "NEWOBJ";
    case '\x92': return "NEWOBJ_EX";
    case 'b': return "BUILD";
    case 'P': return "PERSID";
    case 'Q': return "BINPERSID";
    case '\x82': return "EXT1";
    case '\x83': return "EXT2";
    case '\x84': return "EXT4";
    case '\x97': return "NEXT_BUFFER";
    case '\x98': return "READONLY_BUFFER";
    default: return {};
  }
}

// Python's stack machine, as far as data needs it.
class PickleMachine {
 public:
  PickleMachine(PickleSource source, std::size_t most_steps, PickleTaker* taker)
      : source_(std::move(source)), objects_(taker), most_steps_(most_steps) {}

  Result<PickleTree> read() {
    for (std::size_t steps = 0; !stopped_; ++steps)
      if (Status done = instruction(steps); !done)
        return fail(source_.failure() ? *source_.failure() : std::move(done).error());
    auto tree = objects_.finish();
    if (!tree) return bad_input({}, "the pickle ends with more than one object, or none");
    return *std::move(tree);
  }

 private:
  static constexpr std::size_t k_free_steps = 4'000'000;  // some hundred bytes of memory each at most

  Status instruction(std::size_t steps) {
    const std::uint64_t at = source_.place();
    if (steps > std::min<std::uint64_t>(most_steps_, k_free_steps + at / 2))
      return bad_input({}, fmt::format("the pickle holds too many objects: {} in {} bytes", steps, at));
    const auto opcode = number(1);
    if (!opcode) return bad_input({}, fmt::format("the pickle ends after {} bytes, before its STOP", at));
    const auto code = static_cast<char>(*opcode);
    if (step(code)) return {};
    if (const std::string_view name = refused_name(code); !name.empty())
      return bad_input({}, fmt::format("the pickle asks for {} at byte {}: it would run code", name, at),
                       "data are numbers, texts, lists and dictionaries alone");
    return bad_input({}, fmt::format("the pickle is damaged at byte {} (opcode 0x{:02x})", at, *opcode));
  }

  // A little-endian number of so many bytes.
  std::optional<std::uint64_t> number(std::size_t bytes) {
    if (!source_.has(bytes)) return std::nullopt;
    std::uint64_t value = 0;
    const std::string_view rest = source_.rest();
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(rest[i])} << (8 * i);
    source_.pass(bytes);
    return value;
  }

  // Until the next instruction.
  std::optional<std::string_view> line() {
    std::size_t end = source_.rest().find('\n');
    for (std::size_t seen = 0; end == std::string_view::npos; end = source_.rest().find('\n', seen)) {
      seen = source_.rest().size();
      if (!source_.has(seen + 1)) return std::nullopt;
    }
    const std::string_view text = source_.rest().substr(0, end);
    source_.pass(end + 1);
    return text;
  }

  bool push(PickleKind kind, std::int64_t content = 0) {
    return objects_.push(PickleTree::make(kind, content));
  }
  bool push_integer(std::int64_t value) { return objects_.push(objects_.tree().make_integer(value)); }
  bool push_text(PickleKind kind, std::optional<std::uint64_t> length) {
    if (!length || *length > std::numeric_limits<std::uint32_t>::max() || !source_.has(*length)) return false;
    objects_.push(objects_.tree().make_text(kind, source_.rest().substr(0, *length)));
    source_.pass(*length);
    return true;
  }

  static std::optional<std::uint64_t> digits(std::optional<std::string_view> text) {
    std::uint64_t value = 0;
    if (!text) return std::nullopt;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
    return value;
  }

  // A number of two's complement; more than 64 bits are no size and no address.
  bool long_integer(std::optional<std::uint64_t> bytes) {
    if (!bytes || !source_.has(*bytes)) return false;
    const std::size_t used = *bytes == 9 && source_.rest()[8] == '\0' ? 8 : *bytes;
    if (used > 8) return false;
    auto value = static_cast<std::int64_t>(*number(used));
    source_.pass(*bytes - used);
    if (used > 0 && used < 8 && (value >> (8 * used - 1) & 1) != 0) value -= std::int64_t{1} << (8 * used);
    return push_integer(value);
  }
  // "12", "12L"; "00" and "01" are False and True.
  bool text_integer() {
    auto text = line();
    if (!text) return false;
    if (*text == "00" || *text == "01") return push(PickleKind::boolean, text->back() == '1' ? 1 : 0);
    if (text->ends_with('L')) text->remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size()) return push_integer(value);
    const auto unsigned_value = digits(text);
    return unsigned_value && push_integer(static_cast<std::int64_t>(*unsigned_value));
  }
  bool text_line(PickleKind kind) {
    const auto text = line();
    return text && objects_.push(objects_.tree().make_text(kind, *text));
  }
  bool real() { return number(8) && push(PickleKind::number); }  // read by nobody

  bool step(char opcode) {
    switch (opcode) {
      case '\x80': return number(1).has_value();  // PROTO
      case '\x95': return number(8).has_value();  // FRAME: its length says nothing that is needed
      case '.': return stopped_ = true;
      case '(': return objects_.mark();
      case '0': return objects_.drop();
      case '1': return objects_.drop_to_mark();
      case '2': return objects_.duplicate();
      case 'N': return push(PickleKind::none);
      case '\x88': return push(PickleKind::boolean, 1);
      case '\x89': return push(PickleKind::boolean, 0);
      case 'K': return integer(number(1));
      case 'M': return integer(number(2));
      case 'J': return signed_integer(number(4));
      case '\x8a': return long_integer(number(1));
      case '\x8b': return long_integer(number(4));
      case 'I':
      case 'L': return text_integer();
      case 'G': return real();
      case 'F': return line() && push(PickleKind::number);
      case 'V': return text_line(PickleKind::text);
      case 'S': return text_line(PickleKind::bytes);
      case '\x8c': return push_text(PickleKind::text, number(1));
      case 'X': return push_text(PickleKind::text, number(4));
      case '\x8d': return push_text(PickleKind::text, number(8));
      case 'U':
      case 'C': return push_text(PickleKind::bytes, number(1));
      case 'T':
      case 'B': return push_text(PickleKind::bytes, number(4));
      case '\x8e': return push_text(PickleKind::bytes, number(8));
      case ']': return objects_.push_container(PickleKind::list);
      case '}': return objects_.push_container(PickleKind::dictionary);
      case ')': return objects_.push_container(PickleKind::tuple);
      case 'l': return objects_.build(PickleKind::list);
      case 'd': return objects_.build(PickleKind::dictionary);
      case 't': return objects_.build(PickleKind::tuple);
      case '\x85': return objects_.build(PickleKind::tuple, 1);
      case '\x86': return objects_.build(PickleKind::tuple, 2);
      case '\x87': return objects_.build(PickleKind::tuple, 3);
      case 'a': return objects_.extend(PickleKind::list, 1);
      case 'e': return objects_.extend(PickleKind::list);
      case 's': return objects_.extend(PickleKind::dictionary, 2);
      case 'u': return objects_.extend(PickleKind::dictionary);
      case '\x94': return objects_.memoize_next();
      case 'q': return objects_.memoize(number(1));
      case 'r': return objects_.memoize(number(4));
      case 'p': return objects_.memoize(digits(line()));
      case 'h': return objects_.recall(number(1));
      case 'j': return objects_.recall(number(4));
      case 'g': return objects_.recall(digits(line()));
      default: return false;
    }
  }
  bool integer(std::optional<std::uint64_t> value) {
    return value && push_integer(static_cast<std::int64_t>(*value));
  }
  bool signed_integer(std::optional<std::uint64_t> value) {
    return value && push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(*value)));
  }

  PickleSource source_;
  PickleStack objects_;
  const std::size_t most_steps_;
  bool stopped_ = false;
};

}  // namespace

Result<PickleTree> read_pickle(PickleSource source, std::size_t most_steps, PickleTaker* taker) {
  return PickleMachine(std::move(source), most_steps, taker).read();
}

}  // namespace shardlab
