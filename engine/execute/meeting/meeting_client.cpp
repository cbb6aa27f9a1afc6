#include "engine/execute/meeting/meeting_client.h"

#include "engine/execute/meeting/doorkeeper.h"

namespace shardlab {

Result<std::shared_ptr<MeetingClient>> MeetingClient::come(const std::string& host, int port,
                                                           const RunSecret& secret,
                                                           StreamSocket::Clock::time_point deadline,
                                                           bool* refused) {
  SHARDLAB_TRY(StreamSocket socket, StreamSocket::connect_to(host, port, deadline));
  SHARDLAB_CHECK_OK(socket.send(meeting_greeting(secret)));
  SHARDLAB_TRY(const std::string answer, socket.receive(1, deadline));
  if (refused != nullptr) *refused = answer.front() == k_another_secret;
  if (answer.front() == k_welcome)
    return std::shared_ptr<MeetingClient>(new MeetingClient(std::move(socket)));
  if (answer.front() == k_another_secret) return run_failed({}, "who answers there has another secret");
  return run_failed({}, "who answers there is no rank of a run");
}

Result<MeetingMessage> MeetingClient::ask(const MeetingMessage& question,
                                          std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  if (is_lost_) return run_failed({}, "the connection to rank 0 is lost");
  const Status sent = socket_.send(question);
  auto answer = sent ? socket_.receive_message(StreamSocket::Clock::now() + patience)
                     : Result<MeetingMessage>(fail(sent.error()));
  // What comes later would be taken for the answer to another question.
  if (!answer) {
    is_lost_ = true;
    socket_.shut_down();
  }
  return answer;
}

}  // namespace shardlab
