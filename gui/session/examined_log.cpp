#include "gui/session/examined_log.h"

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <string_view>

#include "engine/base/input_file.h"
#include "engine/base/text/log_lines.h"
#include "engine/doctor/log/check_is_log.h"
#include "engine/doctor/log/log_reader.h"
#include "engine/doctor/registry.h"

namespace shardlab::gui {
namespace {

constexpr std::size_t k_piece = 1 << 18;
constexpr std::size_t k_longest_shown = 400;

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b';
}

// Hands on the bytes in pieces until `take` says that it has enough.
Status read_pieces(const LogSource& log, const std::function<bool(std::string_view)>& take) {
  if (log.file.empty()) {
    const std::string_view text = log.text;
    for (std::size_t at = 0; at < text.size(); at += k_piece)
      if (!take(text.substr(at, k_piece))) break;
    return {};
  }
  SHARDLAB_TRY(const InputFile file, InputFile::open(log.file, "log"));
  std::string piece(k_piece, '\0');
  while (true) {
    skip_hole(file);
    SHARDLAB_TRY(const std::size_t size, read_piece(file, piece, in_file(log.name)));
    if (size == 0 || !take(std::string_view(piece).substr(0, size))) return {};
  }
}

// The numbers of the lines that findings name, with those around them.
std::set<std::int64_t> numbers_around(const Examination& examination) {
  std::set<std::int64_t> numbers;
  for (const Finding& finding : examination.findings) {
    for (const Evidence& evidence : finding.evidence) {
      if (evidence.line < 1) continue;
      for (std::int64_t by = -ExaminedLog::k_lines_around; by <= ExaminedLog::k_lines_around; ++by)
        numbers.insert(evidence.line + by);
    }
  }
  return numbers;
}

Status keep_lines(ExaminedLog& examined, const LogSource& log, const std::function<bool()>& is_wanted) {
  const std::set<std::int64_t> numbers = numbers_around(examined.examination);
  if (numbers.empty()) return {};
  std::string scratch;
  LineCutter cutter([&](std::int64_t number, std::string_view text) {
    if (numbers.count(number) > 0)
      examined.lines[number] = readable(without_escapes(text, scratch), k_longest_shown);
  });
  SHARDLAB_CHECK_OK(read_pieces(log, [&](std::string_view piece) {
    cutter.feed(piece);
    return is_wanted() && cutter.lines() <= *numbers.rbegin();
  }));
  cutter.finish();
  // A progress bar is many texts in one line: what shows a finding is the one that is kept.
  for (const Finding& finding : examined.examination.findings)
    for (const Evidence& evidence : finding.evidence)
      if (evidence.line > 0) examined.lines[evidence.line] = evidence.text;
  return {};
}

Status examine_into(ExaminedLog& examined, const LogSource& log, const std::function<bool()>& is_wanted) {
  LogReader reader(all_signs());
  SHARDLAB_CHECK_OK(read_pieces(log, [&](std::string_view piece) {
    reader.feed(piece);
    return is_wanted();
  }));
  const LogFacts facts = reader.finish();
  SHARDLAB_CHECK_OK(check_is_log(facts, log.name));
  Case known;
  known.source = log.name;
  known.log = &facts;
  examined.examination = examine(known, all_rules());
  return keep_lines(examined, log, is_wanted);
}

}  // namespace

bool looks_like_log(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 5> k_others = {".json", ".gz", ".db", ".yaml", ".yml"};
  constexpr FileKind k_head{"log", std::int64_t{16} << 10};
  const std::string ending = file.extension().string();
  if (std::find(k_others.begin(), k_others.end(), ending) != k_others.end()) return false;
  const std::string head = read_beginning(file, k_head).value_or("");
  const auto controls = std::count_if(head.begin(), head.end(), is_control);
  return !head.empty() && controls * 100 <= std::ssize(head) * k_most_control_percent;
}

ExaminedLog examine_log(const LogSource& log, const std::function<bool()>& is_wanted) {
  ExaminedLog examined;
  examined.name = log.name;
  examined.file = log.file;
  try {
    if (const Status status = examine_into(examined, log, is_wanted); !status)
      examined.error = status.error();
  } catch (const std::exception& exception) {
    // A defect must not end the window.
    examined.error = Error{ErrorKind::internal, "the doctor", exception.what(), {}};
  }
  return examined;
}

}  // namespace shardlab::gui
