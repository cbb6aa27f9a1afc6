// The frame of a page of lessons: its head and its style.
#pragma once

#include <string>

namespace shardlab::lessons {

// The whole document around a body of HTML.
std::string page_around(const std::string& title, const std::string& body);

}  // namespace shardlab::lessons
