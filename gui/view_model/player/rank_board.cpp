#include "gui/view_model/player/rank_board.h"

namespace shardlab::view {
namespace {

bool fills_by_moves(const Instruction& instruction, BufferId buffer) {
  return is_collective(instruction.kind) && is_among(buffer, instruction.writes);
}

// What an instruction allocates or frees is there as far as it has come; a collective's result is as far as
// its moves have.
BufferContent filled(BufferContent content, const ShownBuffer& shown, const Instruction& instruction) {
  if (fills_by_moves(instruction, shown.buffer)) return content;
  content.own_there *= shown.fill;
  content.others_there *= shown.fill;
  return content;
}

}  // namespace

BoardFrame RankBoard::frame(const StepPlayer& player) const {
  BoardFrame frame{.buffers = frame_of(player), .sent_in_step = moves_.sent_in_step()};
  for (const RankLane& lane : moves_.lanes()) frame.lanes.push_back({lane, {}, {}});
  if (plan_->instructions.empty()) return frame;
  const std::size_t at = player.position();
  const double progress = player.progress();
  const Instruction& instruction = plan_->instructions[at];
  for (std::size_t i = 0; i < frame.lanes.size(); ++i) {
    LaneState& state = frame.lanes[i];
    state.sent = moves_.sent_before(at, i);
    if (state.lane.folded) continue;
    for (const ShownBuffer& shown : frame.buffers.buffers)
      state.contents.push_back(
          filled(contents_.of(shown.buffer, at, progress, static_cast<int>(i)), shown, instruction));
  }
  for (const LaneMove& move : moves_.of(instruction)) {
    frame.flows.push_back({move, arrived(move, instruction.kind, progress),
                           stage_progress(instruction.kind, move.stage, progress)});
    frame.lanes[static_cast<std::size_t>(move.from)].sent += frame.flows.back().arrived;
    frame.moved += frame.flows.back().arrived;
    frame.moving += move.bytes;
  }
  for (const LaneState& state : frame.lanes) frame.sent += state.sent;
  return frame;
}

}  // namespace shardlab::view
