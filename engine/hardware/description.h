// Where a figure of a hardware description comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/words.h"
#include "engine/base/yaml.h"

namespace shardlab {

enum class FigureKind : std::uint8_t {
  vendor,
  measured,
  vendor_measured,
  vendor_derived,
  vendor_code,
  derived,
  recalled,
  estimate,
  market
};
template <>
inline constexpr auto k_words<FigureKind> =
    std::to_array<Word<FigureKind>>({{FigureKind::vendor, "vendor"},
                                     {FigureKind::measured, "measured"},
                                     {FigureKind::vendor_measured, "vendor-measured"},
                                     {FigureKind::vendor_derived, "vendor-derived"},
                                     {FigureKind::vendor_code, "vendor-code"},
                                     {FigureKind::derived, "derived"},
                                     {FigureKind::recalled, "recalled"},
                                     {FigureKind::estimate, "estimate"},
                                     {FigureKind::market, "market"}});

// Nobody measured or published it.
constexpr bool is_guess(FigureKind kind) {
  return kind == FigureKind::estimate || kind == FigureKind::recalled;
}

struct FigureSource {
  FigureKind kind = FigureKind::estimate;
  std::string source;                                   // page, repository and file, or plain words
  std::optional<std::pair<double, double>> range = {};  // where it may lie, for those that say so
};

using FigureSources = std::map<std::string, FigureSource>;

// The figures that are guesses, by key.
std::vector<std::string> estimated_figures(const FigureSources& provenance);

// Reads a hardware file: texts, flags and figures {value, kind, source} by section, everything accounted for.
// A figure may say where it can lie: {value, low, high, kind, source}.

// Getters return a harmless value after a mistake; finish() then says what was wrong. So a reader is a plain
// list of fields.
class Description {
 public:
  static Result<Description> read(const std::filesystem::path& file);
  static Result<Description> parse(std::string_view text, std::string_view name);

  std::string text(std::string_view key);  // top level, required
  std::string optional_text(std::string_view key);
  bool flag(std::string_view key, bool otherwise);  // top level

  // Figures of a section. A size in bytes, a rate in bytes a second, or the plain number.
  double figure(std::string_view section, std::string_view key);
  std::optional<double> optional_figure(std::string_view section, std::string_view key);
  int count(std::string_view section, std::string_view key);
  // All figures of a section, by their keys.
  std::map<std::string, double, std::less<>> figures(std::string_view section);

  const FigureSources& provenance() const { return provenance_; }

  // The first mistake: a missing or malformed figure, or a key that nobody asked for.
  Status finish();

 private:
  explicit Description(std::shared_ptr<const YamlNode> root) : root_(std::move(root)) {}
  static Result<Description> of(std::shared_ptr<const YamlNode> root, std::string_view name);
  const YamlNode* take(std::string_view key);
  void mistake(const YamlNode& at, std::string what);
  double value_of(const YamlNode& figure, const std::string& key);
  double number_of(const YamlNode& value, const std::string& key);
  std::optional<std::pair<double, double>> range_of(const YamlNode& figure, const std::string& key);

  std::shared_ptr<const YamlNode> root_;
  std::set<std::string, std::less<>> taken_;
  FigureSources provenance_;
  std::optional<Error> mistake_;
};

}  // namespace shardlab
