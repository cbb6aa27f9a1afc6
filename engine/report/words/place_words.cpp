#include "engine/report/words/place_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "engine/model/join_teacher.h"

namespace shardlab {
namespace {

std::optional<int> number(std::string_view name) {
  int value = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  const bool whole = error == std::errc() && stop == name.data() + name.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

// Several modules that are one unit: each in its words.
std::string joined_words(std::string_view path) {
  std::string text;
  while (true) {
    const std::size_t plus = path.find('+');
    text += (text.empty() ? "" : " and ") + to_words(place_of(path.substr(0, plus)));
    if (plus == std::string_view::npos) return text;
    path.remove_prefix(plus + 1);
  }
}

}  // namespace

ModelPlace place_of(std::string_view path) {
  ModelPlace place;
  if (path.find('+') != std::string_view::npos) {
    place.rest = joined_words(path);
    return place;
  }
  const std::string_view teacher = k_teacher_prefix.substr(0, k_teacher_prefix.size() - 1);
  place.teachers = path == teacher || path.starts_with(k_teacher_prefix);
  if (place.teachers) path.remove_prefix(std::min(path.size(), k_teacher_prefix.size()));
  if (path == ".") path = {};
  place.rest = path;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    place.layer = number(path.substr(begin, end - begin));
    begin = end + 1;
    if (!place.layer) continue;
    place.rest = path.substr(std::min(begin, path.size()));
    break;
  }
  return place;
}

std::string to_words(const ModelPlace& place) {
  std::string text;
  if (place.layer)
    text = fmt::format("layer {}{}{}", *place.layer, place.rest.empty() ? "" : " ", place.rest);
  if (!place.layer) text = place.rest;
  if (text.empty()) {
    text = place.teachers ? "the teacher" : "the model";
  } else if (place.teachers) {
    text = "the teacher's " + text;
  } else if (place.article) {
    text = "the " + text;
  }
  return place.part.empty() ? text : fmt::format("{} ({})", text, place.part);
}

std::string to_words(const ModelPlace& one, int layers) {
  if (!one.layer || layers < 2) {
    ModelPlace whole = one;
    whole.part.clear();
    return to_words(whole);
  }
  return fmt::format("{}{}{} layers{}", one.rest, one.rest.empty() ? "" : " of ", layers,
                     one.teachers ? " of the teacher" : "");
}

}  // namespace shardlab
