// A target: one kind of bytes from outside, and the reader that takes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab::fuzz {

// What a reader made of its input. Both are good; a crash, a hang or a broken promise (promise.h) is not.
enum class Answer { taken, refused };

// Inputs that are known: a file, or all files of a folder whose names end so.
struct SeedPlace {
  // What the reader must answer; `any` where the inputs are there to be survived.
  enum class Verdict { taken, refused, any };
  // Files that hold several inputs, each behind a line that begins with "===".
  enum class Form { whole, parts };

  std::string_view path;  // below the root of the sources
  std::string_view ending = "";
  Verdict verdict = Verdict::taken;
  Form form = Form::whole;
};

struct FuzzTarget {
  std::string_view name;
  std::string_view reads;  // for the table
  Answer (*read)(std::string_view bytes);
  std::size_t longest;            // bytes of an input that are worth trying
  std::vector<SeedPlace> places;  // besides corpus/<name>
};

// All, those first whose readers are our own code byte by byte.
const std::vector<FuzzTarget>& all_targets();

// Null where there is none of that name.
const FuzzTarget* find_target(std::string_view name);

}  // namespace shardlab::fuzz
