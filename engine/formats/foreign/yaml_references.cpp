#include "engine/formats/foreign/yaml_references.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace shardlab {
namespace {

// A file of a few lines can ask for any amount of memory, as every reference may hold two others.
constexpr std::size_t k_most_bytes = 1 << 20;
constexpr std::size_t k_longest_chain = 50;  // references in one another

struct Reference {
  std::size_t begin = 0, end = 0;  // in the text, with the braces
  std::string_view key;
};

bool is_key(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

// The first one from `at` on that names a key.
std::optional<Reference> next_reference(std::string_view text, std::size_t at) {
  for (std::size_t begin = text.find("${", at); begin != std::string_view::npos;
       begin = text.find("${", begin + 2)) {
    const std::size_t end = text.find('}', begin);
    if (end == std::string_view::npos) return std::nullopt;
    const bool is_escaped = begin > 0 && text[begin - 1] == '\\';
    const std::string_view key = text.substr(begin + 2, end - begin - 2);
    if (!is_escaped && is_key(key)) return Reference{begin, end + 1, key};
  }
  return std::nullopt;
}

class Resolver {
 public:
  explicit Resolver(const ForeignValue& root) : root_(root) {}

  Result<ForeignValue> resolved(const ForeignValue& value) {
    ForeignValue made = value;
    if (value.is_text()) return text(value);
    if (!open_.empty()) bytes_ += sizeof(ForeignValue);  // a copy
    if (bytes_ > k_most_bytes) return too_much(value.place);
    for (ForeignEntry& entry : made.entries) {
      SHARDLAB_TRY(entry.value, resolved(entry.value));
    }
    for (ForeignValue& item : made.items) {
      SHARDLAB_TRY(item, resolved(item));
    }
    return made;
  }

  std::optional<ForeignWarning> first;

 private:
  static tl::unexpected<Error> too_much(const Place& place) {
    return bad_input(place, "references make more of this file than a configuration has");
  }

  // A text that is one reference is the value itself; else what it names stands in the text.
  Result<ForeignValue> text(const ForeignValue& value) {
    auto reference = next_reference(value.text, 0);
    if (!reference) return value;
    if (reference->begin == 0 && reference->end == value.text.size()) {
      SHARDLAB_TRY(ForeignValue made, target(*reference, value.place));
      made.place = value.place;
      return made;
    }
    ForeignValue made = foreign_text({}, value.place);
    std::size_t at = 0;
    for (; reference; reference = next_reference(value.text, at)) {
      SHARDLAB_TRY(const ForeignValue named, target(*reference, value.place));
      if (named.is_map() || named.is_list())
        return bad_input(value.place, fmt::format("${{{}}} is {}, and stands within a text", reference->key,
                                                  describe(named.kind)));
      made.text += std::string_view(value.text).substr(at, reference->begin - at);
      made.text += named.text;
      at = reference->end;
      bytes_ += made.text.size();
      if (bytes_ > k_most_bytes) return too_much(value.place);
    }
    made.text += std::string_view(value.text).substr(at);
    return made;
  }

  Result<ForeignValue> target(const Reference& reference, const Place& place) {
    const std::string key(reference.key);
    if (std::find(open_.begin(), open_.end(), key) != open_.end())
      return bad_input(place, fmt::format("${{{}}} leads back to itself", key));
    if (open_.size() > k_longest_chain) return too_much(place);
    const ForeignValue* const named = root_.find(key);
    if (named == nullptr) return bad_input(place, fmt::format("${{{}}} names no key of this file", key));
    open_.push_back(key);
    SHARDLAB_TRY(ForeignValue made, resolved(*named));
    open_.pop_back();
    if (!first)
      first = ForeignWarning{place, fmt::format("${{{}}} is read as {}", key, shown(made)),
                             "programs that read the file with OmegaConf resolve it; HfArgumentParser does "
                             "not"};
    return made;
  }

  const ForeignValue& root_;
  std::vector<std::string> open_;  // keys whose values are being resolved
  std::size_t bytes_ = 0;
};

}  // namespace

Status resolve_references(ForeignValue& root, std::vector<ForeignWarning>& warnings) {
  Resolver resolver(root);
  SHARDLAB_TRY(ForeignValue made, resolver.resolved(root));
  root = std::move(made);
  if (resolver.first) warnings.push_back(*std::move(resolver.first));
  return {};
}

}  // namespace shardlab
