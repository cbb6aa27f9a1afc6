// Module trees written in one line, as model graphs without operators: "root( block( A[60] B[60] )
// list:ModuleList( C[9] ) )".
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "engine/model/graph_builder.h"

namespace shardlab::test {

class ModuleTreeReader {
 public:
  static ModelGraph read(std::string_view text) {
    ModuleTreeReader reader(text);
    reader.module(std::nullopt);
    return reader.builder_.finish(TensorId{0}, "Block", 1, 1);
  }

 private:
  explicit ModuleTreeReader(std::string_view text) : text_(text), builder_("tree", GraphOptions{}) {
    builder_.add_input("tokens", {1}, DType::int64, TensorRole::tokens);
  }

  void module(std::optional<ModuleId> parent) {
    const std::string_view name = word();
    const std::string_view class_name = take(':') ? word() : "Module";
    const ModuleId id = builder_.add_module(parent, parent ? name : "", class_name);
    if (take('[')) {
      builder_.add_parameter(id, "weight", {std::stoll(std::string(word()))}, InitialValue::zeros);
      take(']');
    }
    if (!take('(')) return;
    while (!take(')')) module(id);
  }

  void skip_spaces() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    skip_spaces();
    std::size_t length = 0;
    while (length < text_.size() && std::isalnum(static_cast<unsigned char>(text_[length])) != 0) ++length;
    const std::string_view found = text_.substr(0, length);
    text_.remove_prefix(length);
    return found;
  }

  std::string_view text_;
  GraphBuilder builder_;
};

}  // namespace shardlab::test
