#include "engine/doctor/log/likely_line.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace shardlab {
namespace {

constexpr std::array<std::string_view, 8> k_crashes = {
    "segmentation fault", "core dumped",         "fatal python error", "terminate called",
    "stack smashing",     "illegal instruction", "double free",        "fatal error:"};
constexpr std::array<std::string_view, 9> k_likely_words = {
    "error", "exception", "fatal", "failed", "failure", "aborted", "killed", "timeout", "timed out"};
// What says that there is no error.
constexpr std::array<std::string_view, 10> k_harmless = {
    "0 error",   "no error", "errors: 0",           "error_file",         "error: 0",
    "failed: 0", "errors=0", "mean absolute error", "mean squared error", "error rate"};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// `package.module.SomeError: ...` or `SomeError` alone.
bool is_exception_line(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '.'))
    ++end;
  const std::string_view name = text.substr(0, end);
  const bool named = name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Interrupt") ||
                     name.ends_with("Exit") || name.ends_with("Fault");
  return named && (end == text.size() || text[end] == ':');
}

}  // namespace

Likeliness likeliness_of(std::string_view text, std::string_view lower_case_text) {
  if (has_any(lower_case_text, k_crashes)) return Likeliness::crash;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (is_exception_line(text)) return Likeliness::report;
  if (has_any(lower_case_text, k_harmless)) return Likeliness::none;
  if (lower_case_text.find("exitcode: -") != std::string_view::npos) return Likeliness::report;
  if (has_any(lower_case_text, k_likely_words)) return Likeliness::word;
  return Likeliness::none;
}

}  // namespace shardlab
