// Whether the head of a job can be reached from this machine.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/base/words.h"

namespace shardlab {

// The better first.
enum class Contact : std::uint8_t { connected, refused, timed_out, unreachable, unknown_name };
template <>
inline constexpr auto k_words<Contact> = std::to_array<Word<Contact>>({{Contact::connected, "connected"},
                                                                       {Contact::refused, "refused"},
                                                                       {Contact::timed_out, "timed-out"},
                                                                       {Contact::unreachable, "unreachable"},
                                                                       {Contact::unknown_name,
                                                                        "unknown-name"}});

// Connects to the port by TCP and closes at once; nothing is sent. Of several addresses the best outcome
// counts, each waited for as long as `patience`.
Contact contact_head(const std::string& host, int port, std::chrono::milliseconds patience);

}  // namespace shardlab
