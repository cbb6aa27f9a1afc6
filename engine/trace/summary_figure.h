// Figure: what is known about one field of a run's summary besides its value. The rows are in run_figures.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace shardlab {

struct RunEntry;

enum class MetricUnit : std::uint8_t { nanoseconds, bytes, tokens_per_second, fraction };

// When two runs side by side list a metric; one with a tolerance is always listed.
enum class Listed : std::uint8_t { always, where_not_zero, where_both_know, with_tolerance };

// How a figure is compared between runs. A figure that is a map or a list has one metric for each of its
// elements: `name` then ends with a dot and begins their names ("peak." of "peak.activation").
struct MetricRule {
  std::string_view name = {};  // empty: no metric
  MetricUnit unit = MetricUnit::nanoseconds;
  Listed listed = Listed::where_not_zero;
  int place = 0;                // among the metrics of a comparison
  std::string_view total = {};  // of a list: the metric of all its elements together
};

// What does not depend on the field's type.
struct FigureFacts {
  std::string_view name;         // in JSON
  std::string_view meaning;      // in words, for docs/json.md and the window's answers to "why?"
  std::string_view remark = {};  // what a reader of the JSON needs besides
  std::array<std::string_view, 6> settings = {};  // keys of the scenario that decide most; empty ones behind
  MetricRule metric = {};
  std::string_view column = {};                // in the table `runs` and in JSON's `history`; empty: none
  std::string_view column_meaning = {};        // where the column holds less than the figure
  std::array<std::string_view, 2> words = {};  // for false and true; empty: JSON's own
  bool zero_is_unknown = false;
  bool negative_is_unknown = false;
};

// A row: the field `member` of the struct Owner. EntryMember is the field of RunEntry that holds the column,
// or nullptr. The functions return the row with one more fact.
template <typename Owner, typename Value, typename EntryMember = std::nullptr_t>
struct Figure : FigureFacts {
  static constexpr bool k_is_column = !std::is_same_v<EntryMember, std::nullptr_t>;
  Value Owner::*member = nullptr;
  EntryMember entry = nullptr;

  constexpr Figure with(auto change) const {
    Figure row = *this;
    change(row);
    return row;
  }
  constexpr Figure metric_of(MetricRule rule) const {
    return with([&](Figure& row) { row.metric = rule; });
  }
  constexpr Figure remarked(std::string_view text) const {
    return with([&](Figure& row) { row.remark = text; });
  }
  constexpr Figure set_by(auto... keys) const {
    return with([&](Figure& row) { row.settings = {std::string_view(keys)...}; });
  }
  constexpr Figure in_words(std::string_view no, std::string_view yes) const {
    return with([&](Figure& row) { row.words = {no, yes}; });
  }
  constexpr Figure zero_unknown() const {
    return with([](Figure& row) { row.zero_is_unknown = true; });
  }
  constexpr Figure negative_unknown() const {
    return with([](Figure& row) { row.negative_is_unknown = true; });
  }
  // Also a column of the list of runs: a migration adds it to the database (store/schema.cpp).
  template <typename Column>
  constexpr auto column_of(std::string_view its_name, Column RunEntry::*its_member,
                           std::string_view its_meaning = {}) const {
    Figure<Owner, Value, Column RunEntry::*> row{*this, member, its_member};
    row.column = its_name;
    row.column_meaning = its_meaning;
    return row;
  }
};

template <typename Owner, typename Value>
constexpr Figure<Owner, Value> figure(std::string_view name, Value Owner::*member, std::string_view meaning) {
  Figure<Owner, Value> row;
  row.name = name;
  row.meaning = meaning;
  row.member = member;
  return row;
}

// The rows of a struct: a tuple of Figure in the order of its JSON. Every struct that has some specializes
// it.
template <typename Owner>
inline constexpr auto k_figures = nullptr;

template <typename T>
inline constexpr bool k_has_figures = !std::is_same_v<decltype(k_figures<T>), const std::nullptr_t>;

}  // namespace shardlab
