#include "gui/view_model/player/content_words.h"

#include <fmt/format.h>

#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

std::string parts_in_words(const BufferContent& content) {
  if (content.parts == 1 || content.others_there >= 1) return "";
  const std::string own = fmt::format("its own part, 1 of {}", content.parts);
  if (content.others_there <= 0) return own + ", alone";
  return fmt::format("{}, and {} of the others'", own, percent(content.others_there));
}

std::string sum_of(int ranks) {
  return ranks == 1 ? "gradients of this rank alone" : fmt::format("gradients added up over {} ranks", ranks);
}

std::string sum_in_words(const BufferContent& content) {
  if (content.summed_ranks == 0) return "";
  if (content.own_summed <= 0 && content.summed_ranks > 1) return sum_of(content.summed_before);
  const std::string sum = sum_of(content.summed_ranks);
  if (content.summed_ranks == 1) return sum;
  const double done =
      content.others_there < 1 && content.parts > 1
          ? content.own_summed
          : (content.own_summed + (content.parts - 1) * content.others_summed) / content.parts;
  return done >= 1 ? sum : fmt::format("{}: {} so far", sum, percent(done));
}

}  // namespace

std::string size_in_words(const Buffer& buffer) {
  const std::string bytes = to_string(buffer.bytes());
  if (buffer.saved_by) return bytes + " of several dtypes";
  return fmt::format("{}: {} of {}", bytes, counted(buffer.elements, "element"), to_string(buffer.dtype));
}

std::string content_in_words(const BufferContent& content) {
  const std::string parts = parts_in_words(content), sum = sum_in_words(content);
  return parts.empty() || sum.empty() ? parts + sum : parts + "; " + sum;
}

}  // namespace shardlab::view
