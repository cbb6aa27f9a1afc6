#include "engine/execute/meeting/meeting_server.h"

namespace shardlab {
namespace {

// Nothing after a question of which texts are missing.
std::optional<MeetingMessage> answer_to(const MeetingMessage& question, ValueTable& table) {
  const auto& texts = question.texts;
  const auto yes_if = [](bool is_so) {
    return MeetingMessage{is_so ? MeetingVerb::yes : MeetingVerb::no, 0, {}};
  };
  const auto number = [](std::int64_t value) { return MeetingMessage{MeetingVerb::yes, value, {}}; };
  const auto text = [](std::string value) { return MeetingMessage{MeetingVerb::yes, 0, {std::move(value)}}; };
  switch (question.verb) {
    case MeetingVerb::set:
      if (texts.size() != 2) break;
      table.set(texts[0], texts[1]);
      return yes_if(true);
    case MeetingVerb::get: {
      if (texts.size() != 1) break;
      auto value = table.get(texts[0]);
      return value ? text(*std::move(value)) : yes_if(false);
    }
    case MeetingVerb::append:
      if (texts.size() != 2) break;
      table.append(texts[0], texts[1]);
      return yes_if(true);
    case MeetingVerb::add:
      if (texts.size() != 1) break;
      return number(table.add(texts[0], question.number));
    case MeetingVerb::compare_set:
      if (texts.size() != 3) break;
      return text(table.compare_set(texts[0], texts[1], texts[2]));
    case MeetingVerb::erase:
      if (texts.size() != 1) break;
      return yes_if(table.erase(texts[0]));
    case MeetingVerb::has: return yes_if(table.has(texts));
    case MeetingVerb::wait: return yes_if(table.wait(texts, std::chrono::milliseconds(question.number)));
    case MeetingVerb::count: return number(static_cast<std::int64_t>(table.size()));
    case MeetingVerb::yes:
    case MeetingVerb::no: break;
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<MeetingServer>> MeetingServer::start(const std::string& host, int port,
                                                            RunSecret secret) {
  auto listener = StreamSocket::listen_at(host, port);
  if (!listener) listener = StreamSocket::listen_at(host, 0);
  if (!listener) return fail(listener.error());
  return std::unique_ptr<MeetingServer>(new MeetingServer(*std::move(listener), std::move(secret)));
}

MeetingServer::MeetingServer(StreamSocket listener, RunSecret secret)
    : listener_(std::move(listener)), door_(std::move(secret)), door_thread_([this] { keep_door(); }) {}

MeetingServer::~MeetingServer() {
  stop_ = true;
  table_.close();
  door_thread_.join();
  for (const Guest& guest : guests_) guest.socket->shut_down();
  for (Guest& guest : guests_) guest.thread.join();
}

void MeetingServer::keep_door() {
  // Often enough to end soon, and to send the silent ones away.
  constexpr int k_look_ms = 50;
  while (!stop_) {
    std::vector<pollfd> waited{{listener_.descriptor(), POLLIN, 0}};
    door_.watch(waited);
    ::poll(waited.data(), waited.size(), k_look_ms);
    const auto now = StreamSocket::Clock::now();
    if (waited.front().revents != 0) {
      StreamSocket visitor = listener_.accept();
      // Without a descriptor left, those at the door may be the ones who hold them.
      if (visitor.is_open())
        door_.add(std::move(visitor), now);
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(k_look_ms));
    }
    for (StreamSocket& admitted : door_.admit(now)) {
      auto socket = std::make_shared<StreamSocket>(std::move(admitted));
      guests_.push_back({socket, std::thread([this, socket] { converse(socket); })});
    }
    refused_ = door_.refused();
  }
}

void MeetingServer::converse(std::shared_ptr<StreamSocket> guest) {
  for (;;) {
    const auto question = guest->receive_message(StreamSocket::Clock::time_point::max());
    const auto answer = question ? answer_to(*question, table_) : std::nullopt;
    if (!answer || !guest->send(*answer)) break;
  }
  guest->shut_down();
}

}  // namespace shardlab
