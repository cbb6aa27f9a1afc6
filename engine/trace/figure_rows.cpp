#include "engine/trace/figure_rows.h"

#include <fmt/format.h>

#include "engine/trace/run_figures.h"

namespace shardlab {
namespace {

// The type in words, and what a figure's own figures are of.
template <typename Value>
struct TypeOf {
  static constexpr const char* k_name = std::is_integral_v<Value> ? "int" : "map";
  using Inner = Value;
  static constexpr const char* k_below = ".";
};
template <>
struct TypeOf<bool> : TypeOf<int> {
  static constexpr const char* k_name = "bool";
};
template <>
struct TypeOf<double> : TypeOf<int> {
  static constexpr const char* k_name = "number";
};
template <>
struct TypeOf<std::string> : TypeOf<int> {
  static constexpr const char* k_name = "text";
};
template <WordEnum Value>
struct TypeOf<Value> : TypeOf<std::string> {};
template <>
struct TypeOf<InstructionId> : TypeOf<int> {};
template <typename Tag>
struct TypeOf<Quantity<Tag>> : TypeOf<int> {};
template <typename Element>
struct TypeOf<std::vector<Element>> {
  static constexpr const char* k_name = "list";
  using Inner = Element;
  static constexpr const char* k_below = "[].";
};

template <typename Owner>
void add_rows(std::vector<FigureRow>& rows, const std::string& above);

template <typename Value>
void add_row(std::vector<FigureRow>& rows, const std::string& path, const FigureFacts& facts,
             const char* absent = "") {
  using Type = TypeOf<Value>;
  const bool in_words = !facts.words[0].empty();
  rows.push_back({path, (in_words ? "text" : Type::k_name) + std::string(absent), facts});
  if constexpr (k_has_figures<typename Type::Inner>)
    add_rows<typename Type::Inner>(rows, path + Type::k_below);
}

template <typename Owner>
void add_rows(std::vector<FigureRow>& rows, const std::string& above) {
  const auto add = [&]<typename Value>(const FigureFacts& facts, Value Owner::*) {
    const std::string path = above + std::string(facts.name);
    if constexpr (requires {
                    typename Value::value_type;
                    requires std::is_same_v<Value, std::optional<typename Value::value_type>>;
                  })
      add_row<typename Value::value_type>(rows, path, facts, "?");
    else
      add_row<Value>(rows, path, facts, facts.zero_is_unknown || facts.negative_is_unknown ? "?" : "");
  };
  std::apply([&](const auto&... figures) { (add(figures, figures.member), ...); }, k_figures<Owner>);
}

// How many fields an aggregate has: as many as it can be made of.
struct Anything {
  template <typename T>
  constexpr operator T() const {
    return T{};
  }
};
template <typename T, typename... Fields>
constexpr std::size_t field_count() {
  if constexpr (requires { T{Fields{}..., Anything{}}; })
    return field_count<T, Fields..., Anything>();
  else
    return sizeof...(Fields);
}
template <typename... T>
constexpr bool every_field_has_a_row() {
  return ((field_count<T>() == std::tuple_size_v<decltype(k_figures<T>)>)&&...);
}
static_assert(every_field_has_a_row<RunSummary, MemorySummary, StepTimeSummary, CommunicationTotal,
                                    CommunicationVolume, TeacherMemory, OperatorTime>(),
              "a figure is a field and a row: engine/trace/run_figures.h");

bool is_metric(const MetricRule& rule, std::string_view name) {
  if (rule.name.empty()) return false;
  return rule.name == name || rule.total == name || (rule.name.ends_with('.') && name.starts_with(rule.name));
}

// Whether the value is the zero that stands for unknown. A column that cannot be absent keeps it.
template <typename Value>
bool is_unknown(const FigureFacts& facts, const Value& value) {
  if constexpr (requires { value == Value{}; }) return facts.zero_is_unknown && value == Value{};
  return false;
}

}  // namespace

void set_columns(RunEntry& entry, const RunSummary& run) {
  const auto last = [](const std::vector<double>* values) {
    return values->empty() ? std::nullopt : std::optional(values->back());
  };
  visit_figures(&run, [&]<typename Row>(const Row& row, const auto* value) {
    if constexpr (Row::k_is_column) {
      auto& column = entry.*row.entry;
      if (!value)
        column = {};
      else if constexpr (requires { last(value); })
        column = last(value);
      else if (!is_unknown(row, *value) || !requires { column.has_value(); })
        column = *value;
    }
  });
}

const std::vector<FigureRow>& figure_rows() {
  static const std::vector<FigureRow> k_rows = [] {
    std::vector<FigureRow> rows;
    add_rows<RunSummary>(rows, "");
    return rows;
  }();
  return k_rows;
}

const FigureRow* find_figure(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const FigureRow& row : figure_rows()) {
    if (is_metric(row.facts.metric, name) || row.facts.column == name || row.path == name) return &row;
  }
  return nullptr;
}

std::string figure_reference() {
  std::string text = "| Field | Type | Meaning |\n| --- | --- | --- |\n";
  for (const FigureRow& row : figure_rows()) {
    text += fmt::format("| `{}` | {} | {}{}{} |\n", row.path, row.type, row.facts.meaning,
                        row.facts.remark.empty() ? "" : "; ", row.facts.remark);
  }
  return text;
}

}  // namespace shardlab
