// Which lines of a log report a failure, whatever it is.
#pragma once

#include <string_view>

namespace shardlab {

enum class Likeliness { none, word, report, crash };

// Whether it is built as the last line of a Python traceback, without the prefixes of ranks.
bool is_exception_line(std::string_view text);

// word: it says error, failed or the like. report: it is built as the last line of a Python traceback
// (`ValueError: ...`) or as a launcher's line about a process that failed. crash: the process ended in it
// (segmentation fault, abort). The text is without the prefixes of ranks.
Likeliness likeliness_of(std::string_view text, std::string_view lower_case_text);

}  // namespace shardlab
