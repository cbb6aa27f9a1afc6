#include "engine/base/error_json.h"

#include <array>

#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"
#include "engine/base/text/shown_part.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

template <typename Enum>
struct Name {
  Enum value;
  std::string_view name;
};
constexpr std::array<Name<ErrorKind>, 4> k_kinds{{{ErrorKind::bad_input, "bad_input"},
                                                  {ErrorKind::not_possible, "not_possible"},
                                                  {ErrorKind::run_failed, "run_failed"},
                                                  {ErrorKind::internal, "internal"}}};
constexpr std::array<Name<ErrorCode>, 4> k_codes{{{ErrorCode::none, ""},
                                                  {ErrorCode::no_database, "no_database"},
                                                  {ErrorCode::failed_in_step, "failed_in_step"},
                                                  {ErrorCode::lost_peer, "lost_peer"}}};

template <typename Table, typename Enum>
std::string_view name_of(const Table& table, Enum value) {
  for (const auto& row : table)
    if (row.value == value) return row.name;
  return {};
}

template <typename Table, typename Enum>
Enum value_of(const Table& table, std::string_view name, Enum otherwise) {
  for (const auto& row : table)
    if (row.name == name) return row.value;
  return otherwise;
}

Json number_or_null(int number) {
  return number > 0 ? Json(number) : Json();
}

Json to_json(const Error& error) {
  const Place& place = error.place;
  Json parts = Json::array();
  for (const Error& part : error.parts) parts.push_back(to_json(part));
  return {{"kind", name_of(k_kinds, error.kind)},
          {"where", where_text(error)},
          {"what", what_text(error)},
          {"hint", shown_part(error.hint, k_shown_of_text)},
          {"file", place.file.empty() ? Json() : Json(place.file)},
          {"line", number_or_null(place.line)},
          {"column", number_or_null(place.column)},
          {"rank", place.rank ? Json(*place.rank) : Json()},
          {"name", shown_part(place.name, k_shown_of_name)},
          {"code", name_of(k_codes, error.code)},
          {"parts", std::move(parts)}};
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<int> number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto number = found->get<std::int64_t>();
  return std::in_range<int>(number) ? std::optional(static_cast<int>(number)) : std::nullopt;
}

Error from_json(const Json& object) {
  Error error;
  if (!object.is_object()) return error;
  error.kind = value_of(k_kinds, text_at(object, "kind"), ErrorKind::internal);
  error.code = value_of(k_codes, text_at(object, "code"), ErrorCode::none);
  error.hint = text_at(object, "hint");
  error.place = in_file(text_at(object, "file"), number_at(object, "line").value_or(0),
                        number_at(object, "column").value_or(0));
  error.place.rank = number_at(object, "rank");
  error.place.name = text_at(object, "name");
  if (error.place.empty()) error.place.name = text_at(object, "where");
  if (const auto parts = object.find("parts"); parts != object.end() && parts->is_array()) {
    for (const Json& part : *parts) error.parts.push_back(from_json(part));
  }
  if (!error.parts.empty()) return error;
  // The field has the text for people: what stands before the error's own words is known from the place.
  const std::string lead = what_text(error);
  const std::string what = text_at(object, "what");
  error.what = lead.empty() || what.size() < lead.size() + 2 ? what : what.substr(lead.size() + 2);
  return error;
}

}  // namespace

std::string error_json(const Error& error) {
  return to_json(error).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Error parse_error_json(std::string_view text) {
  if (is_json_too_deep(text) || has_too_many_members(text)) return {};
  return from_json(Json::parse(text, nullptr, /*allow_exceptions=*/false));
}

}  // namespace shardlab
