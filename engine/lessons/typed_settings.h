// Settings as a learner types them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlab::lessons {

// `train.micro_batch=2 model.loss={kind: chunked, chunks: 8}` as key=value, apart at blanks outside of
// braces, brackets and quotes. What is no key=value comes as it is: whoever takes it says so.
std::vector<std::string> typed_settings(std::string_view typed);

}  // namespace shardlab::lessons
