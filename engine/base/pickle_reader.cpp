#include "engine/base/pickle_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

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

}  // namespace

// Python's stack machine, as far as data needs it.
class PickleMachine {
 public:
  PickleMachine(std::string source, std::size_t most_steps) : most_steps_(most_steps) {
    tree_.source_ = std::move(source);
  }

  // Whether it was stopped for want of bytes, and of nothing else.
  bool wants_more() const { return wants_more_; }

  Result<PickleTree> read() {
    for (std::size_t steps = 0; !stopped_; ++steps) {
      const std::size_t at = at_;
      if (steps > std::min(most_steps_, k_free_steps + at / 2))
        return bad_input({}, fmt::format("the pickle holds too many objects: {} in {} bytes", steps, at));
      const auto opcode = number(1);
      if (!opcode) return bad_input({}, fmt::format("the pickle ends after {} bytes, before its STOP", at));
      const auto code = static_cast<char>(*opcode);
      if (const std::string_view name = refused_name(code); !name.empty())
        return bad_input({}, fmt::format("the pickle asks for {} at byte {}: it would run code", name, at),
                         "data are numbers, texts, lists and dictionaries alone");
      if (!step(code))
        return bad_input({}, fmt::format("the pickle is damaged at byte {} (opcode 0x{:02x})", at, *opcode));
    }
    if (stack_.size() != 1) return bad_input({}, "the pickle ends with more than one object, or none");
    tree_.root_ = stack_.back();
    return std::move(tree_);
  }

 private:
  using Node = PickleTree::Node;

  static constexpr std::size_t k_free_steps = 4'000'000;  // some hundred bytes of memory each at most

  std::string_view rest() const { return std::string_view(tree_.source_).substr(at_); }

  // A little-endian number of so many bytes.
  std::optional<std::uint64_t> number(std::size_t bytes) {
    if (rest().size() < bytes) return wants_more_ = true, std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(rest()[i])} << (8 * i);
    at_ += bytes;
    return value;
  }

  std::optional<std::string_view> line() {
    const std::size_t end = rest().find('\n');
    if (end == std::string_view::npos) return wants_more_ = true, std::nullopt;
    const std::string_view text = rest().substr(0, end);
    at_ += end + 1;
    return text;
  }

  bool push(Node node) {
    if (tree_.nodes_.size() >= std::numeric_limits<PickleIndex>::max()) return false;
    stack_.push_back(static_cast<PickleIndex>(tree_.nodes_.size()));
    tree_.nodes_.push_back(node);
    return true;
  }
  bool push_integer(std::int64_t value) { return push({PickleKind::integer, 0, value}); }
  bool push_text(PickleKind kind, std::optional<std::uint64_t> length) {
    if (!length || *length > std::numeric_limits<std::uint32_t>::max()) return false;
    if (*length > rest().size()) return wants_more_ = true, false;
    const auto place = static_cast<std::int64_t>(at_);
    at_ += *length;
    return push({kind, static_cast<std::uint32_t>(*length), place});
  }
  bool push_container(PickleKind kind, std::vector<PickleIndex> items = {}) {
    tree_.containers_.push_back(std::move(items));
    return push({kind, 0, static_cast<std::int64_t>(tree_.containers_.size() - 1)});
  }

  // What lies above the mark, or the uppermost `count`.
  std::optional<std::vector<PickleIndex>> take(std::optional<std::size_t> count = {}) {
    std::size_t begin = 0;
    if (count) {
      if (stack_.size() < floor() + *count) return std::nullopt;
      begin = stack_.size() - *count;
    } else {
      if (marks_.empty()) return std::nullopt;
      begin = marks_.back();
      marks_.pop_back();
    }
    std::vector<PickleIndex> taken(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
    return taken;
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  bool build(PickleKind kind, std::optional<std::size_t> count = {}) {
    auto items = take(count);
    if (!items || (kind == PickleKind::dictionary && items->size() % 2 != 0)) return false;
    return push_container(kind, *std::move(items));
  }
  // Adds to the list or dictionary below.
  bool extend(PickleKind kind, std::optional<std::size_t> count = {}) {
    const auto items = take(count);
    if (!items || stack_.size() <= floor() || tree_.nodes_[stack_.back()].kind != kind) return false;
    if (kind == PickleKind::dictionary && items->size() % 2 != 0) return false;
    auto& into = tree_.containers_[static_cast<std::size_t>(tree_.nodes_[stack_.back()].value)];
    into.insert(into.end(), items->begin(), items->end());
    return true;
  }

  bool memoize(std::optional<std::uint64_t> place) {
    if (!place || stack_.size() <= floor()) return false;
    memo_[*place] = stack_.back();
    return true;
  }
  bool recall(std::optional<std::uint64_t> place) {
    const auto found = place ? memo_.find(*place) : memo_.end();
    if (found == memo_.end()) return false;
    stack_.push_back(found->second);
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
    if (!bytes) return false;
    if (*bytes > rest().size()) return wants_more_ = true, false;
    const std::size_t used = *bytes == 9 && rest()[8] == '\0' ? 8 : *bytes;
    if (used > 8) return false;
    auto value = static_cast<std::int64_t>(*number(used));
    at_ += *bytes - used;
    if (used > 0 && used < 8 && (value >> (8 * used - 1) & 1) != 0) value -= std::int64_t{1} << (8 * used);
    return push_integer(value);
  }
  // "12", "12L"; "00" and "01" are False and True.
  bool text_integer() {
    auto text = line();
    if (!text) return false;
    if (*text == "00" || *text == "01") return push({PickleKind::boolean, 0, text->back() == '1'});
    if (text->ends_with('L')) text->remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size()) return push_integer(value);
    const auto unsigned_value = digits(text);
    return unsigned_value && push_integer(static_cast<std::int64_t>(*unsigned_value));
  }
  bool text_line(PickleKind kind) {
    const std::size_t begin = at_;
    const auto text = line();
    return text && push({kind, static_cast<std::uint32_t>(text->size()), static_cast<std::int64_t>(begin)});
  }
  bool real() { return number(8) && push({PickleKind::number, 0, 0}); }  // read by nobody
  bool drop() {
    if (!marks_.empty() && stack_.size() == marks_.back()) return marks_.pop_back(), true;
    if (stack_.empty()) return false;
    return stack_.pop_back(), true;
  }

  bool step(char opcode) {
    switch (opcode) {
      case '\x80': return number(1).has_value();  // PROTO
      case '\x95': return number(8).has_value();  // FRAME: its length says nothing that is needed
      case '.': return stopped_ = true;
      case '(': return marks_.push_back(stack_.size()), true;
      case '0': return drop();
      case '1': return take().has_value();
      case '2': return stack_.size() > floor() && (stack_.push_back(stack_.back()), true);
      case 'N': return push({});
      case '\x88': return push({PickleKind::boolean, 0, 1});
      case '\x89': return push({PickleKind::boolean, 0, 0});
      case 'K': return integer(number(1));
      case 'M': return integer(number(2));
      case 'J': return signed_integer(number(4));
      case '\x8a': return long_integer(number(1));
      case '\x8b': return long_integer(number(4));
      case 'I':
      case 'L': return text_integer();
      case 'G': return real();
      case 'F': return line() && push({PickleKind::number, 0, 0});
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
      case ']': return push_container(PickleKind::list);
      case '}': return push_container(PickleKind::dictionary);
      case ')': return push_container(PickleKind::tuple);
      case 'l': return build(PickleKind::list);
      case 'd': return build(PickleKind::dictionary);
      case 't': return build(PickleKind::tuple);
      case '\x85': return build(PickleKind::tuple, 1);
      case '\x86': return build(PickleKind::tuple, 2);
      case '\x87': return build(PickleKind::tuple, 3);
      case 'a': return extend(PickleKind::list, 1);
      case 'e': return extend(PickleKind::list);
      case 's': return extend(PickleKind::dictionary, 2);
      case 'u': return extend(PickleKind::dictionary);
      case '\x94': return memoize(memo_.size());
      case 'q': return memoize(number(1));
      case 'r': return memoize(number(4));
      case 'p': return memoize(digits(line()));
      case 'h': return recall(number(1));
      case 'j': return recall(number(4));
      case 'g': return recall(digits(line()));
      default: return false;
    }
  }
  bool integer(std::optional<std::uint64_t> value) {
    return value && push_integer(static_cast<std::int64_t>(*value));
  }
  bool signed_integer(std::optional<std::uint64_t> value) {
    return value && push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(*value)));
  }

  PickleTree tree_;
  std::size_t at_ = 0;
  std::vector<PickleIndex> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleIndex> memo_;
  const std::size_t most_steps_;
  bool stopped_ = false;
  bool wants_more_ = false;
};

Result<PickleTree> read_pickle(std::string source, std::size_t most_steps) {
  return PickleMachine(std::move(source), most_steps).read();
}

bool may_begin_pickle(std::string beginning) {
  PickleMachine machine(std::move(beginning), std::numeric_limits<std::size_t>::max());
  return machine.read().has_value() || machine.wants_more();
}

std::optional<std::int64_t> PickleTree::integer(PickleIndex value) const {
  const Node& node = nodes_[value];
  if (node.kind != PickleKind::integer && node.kind != PickleKind::boolean) return std::nullopt;
  return node.value;
}

std::optional<std::string_view> PickleTree::text(PickleIndex value) const {
  const Node& node = nodes_[value];
  if (node.kind != PickleKind::text) return std::nullopt;
  return std::string_view(source_).substr(static_cast<std::size_t>(node.value), node.length);
}

const std::vector<PickleIndex>& PickleTree::items(PickleIndex value) const {
  static const std::vector<PickleIndex> none;
  const Node& node = nodes_[value];
  const bool container =
      node.kind == PickleKind::list || node.kind == PickleKind::tuple || node.kind == PickleKind::dictionary;
  return container ? containers_[static_cast<std::size_t>(node.value)] : none;
}

// The last of equal keys counts, as in Python.
std::optional<PickleIndex> PickleTree::find(PickleIndex dictionary, std::string_view key) const {
  if (kind(dictionary) != PickleKind::dictionary) return std::nullopt;
  const std::vector<PickleIndex>& all = items(dictionary);
  for (std::size_t i = all.size(); i >= 2; i -= 2)
    if (text(all[i - 2]) == key) return all[i - 1];
  return std::nullopt;
}

}  // namespace shardlab
