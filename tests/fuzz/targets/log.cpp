// A log of a job, in one piece and in two: any cut gives the same facts.
#include "engine/doctor/log/check_is_log.h"
#include "engine/doctor/log/log_reader.h"
#include "engine/doctor/registry.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_log_text(std::string_view bytes) {
  const LogFacts facts = read_log(bytes, all_signs());
  LogReader reader(all_signs());
  reader.feed(bytes.substr(0, bytes.size() / 2));
  reader.feed(bytes.substr(bytes.size() / 2));
  const LogFacts pieces = reader.finish();
  promise(pieces.lines == facts.lines, "a cut changes no count of lines");
  promise(pieces.bytes == facts.bytes && pieces.control_bytes == facts.control_bytes, "a cut loses no bytes");
  promise(pieces.likely == facts.likely, "a cut changes no likely line");
  promise(pieces.signs.size() == facts.signs.size(), "a cut changes no signs");
  return answer_of(check_is_log(facts, "input.log"));
}

}  // namespace shardlab::fuzz
