#include "engine/base/result.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/text/shown_part.h"

namespace shardlab {
namespace {

std::string joined(std::string first, std::string_view between, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first.append(between).append(second);
}

std::string file_text(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

std::string thing_text(const Place& place) {
  return joined(place.rank ? fmt::format("rank {}", *place.rank) : "", ", ",
                shown_part(place.name, k_shown_of_name));
}

// People read the first ones and mend them; the others may follow from these.
std::string parts_text(const std::vector<Error>& parts) {
  constexpr std::size_t k_shown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), k_shown); ++i)
    text = joined(std::move(text), "\n", to_string(parts[i]));
  if (parts.size() > k_shown) text += fmt::format("\nand {} more", parts.size() - k_shown);
  return text;
}

tl::unexpected<Error> make(ErrorKind kind, Place place, std::string what, std::string hint) {
  return fail(Error{kind, std::move(place), std::move(what), std::move(hint)});
}

}  // namespace

Place::Place(const Place&) = default;
Place::Place(Place&&) noexcept = default;
Place& Place::operator=(const Place&) = default;
Place& Place::operator=(Place&&) noexcept = default;
Place::~Place() = default;

Error::Error() = default;
Error::Error(ErrorKind of, Place at, std::string wrong, std::string help, ErrorCode decided_on)
    : kind(of), place(std::move(at)), what(std::move(wrong)), hint(std::move(help)), code(decided_on) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

Place in_file(std::string file, int line, int column) {
  Place place;
  place.file = std::move(file);
  place.line = line;
  place.column = column;
  return place;
}

Place on_rank(int rank, std::string name) {
  Place place(std::move(name));
  place.rank = rank;
  return place;
}

Place named(Place place, std::string name) {
  place.name = std::move(name);
  return place;
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input: return 2;
    case ErrorKind::not_possible: return 3;
    case ErrorKind::run_failed: return 4;
    case ErrorKind::internal: break;
  }
  return 70;
}

bool is_of_the_machine(const Error& error) {
  return error.code == ErrorCode::unreadable ||
         std::any_of(error.parts.begin(), error.parts.end(), is_of_the_machine);
}

std::string to_string(const Place& place) {
  return joined(file_text(place), ": ", thing_text(place));
}

std::string where_text(const Error& error) {
  return error.place.file.empty() ? thing_text(error.place) : file_text(error.place);
}

std::string what_text(const Error& error) {
  const std::string what =
      error.parts.empty() ? shown_part(error.what, k_shown_of_text) : parts_text(error.parts);
  return error.place.file.empty() ? what : joined(thing_text(error.place), ": ", what);
}

std::string message_text(const Error& error) {
  return joined(where_text(error), ": ", what_text(error));
}

std::string to_string(const Error& error) {
  std::string text = message_text(error);
  if (!error.hint.empty()) text += " (" + shown_part(error.hint, k_shown_of_text) + ")";
  return text;
}

tl::unexpected<Error> bad_input(Place place, std::string what, std::string hint) {
  return make(ErrorKind::bad_input, std::move(place), std::move(what), std::move(hint));
}
tl::unexpected<Error> not_possible(Place place, std::string what, std::string hint) {
  return make(ErrorKind::not_possible, std::move(place), std::move(what), std::move(hint));
}
tl::unexpected<Error> run_failed(Place place, std::string what, std::string hint) {
  return make(ErrorKind::run_failed, std::move(place), std::move(what), std::move(hint));
}
tl::unexpected<Error> unreadable(tl::unexpected<Error> error) {
  error.value().code = ErrorCode::unreadable;
  return error;
}
tl::unexpected<Error> internal_error(Place place, std::string what, std::string hint) {
  return make(ErrorKind::internal, std::move(place), std::move(what), std::move(hint));
}

}  // namespace shardlab
