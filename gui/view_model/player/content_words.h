// What a rank has of a buffer, in words for people.
#pragma once

#include <string>

#include "engine/plan/buffer.h"
#include "gui/view_model/player/buffer_contents.h"

namespace shardlab::view {

// "2.77 MiB: 725,504 elements of float32"; of a bundle of several dtypes "115 KiB of several dtypes".
std::string size_in_words(const Buffer& buffer);

// "its own part, 1 of 2, and 40.0 % of the others'", "gradients added up over 4 ranks"; empty where there is
// nothing to say: all of it is there, and it holds no gradients.
std::string content_in_words(const BufferContent& content);

}  // namespace shardlab::view
