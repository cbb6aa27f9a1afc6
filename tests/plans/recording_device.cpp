#include "tests/plans/recording_device.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace shardlab::test {
namespace {

struct Number : StreamEvent {
  std::size_t value = 0;
};

std::size_t number_of(const EventHandle& event) {
  return static_cast<const Number&>(*event).value;
}

class RecordingBody : public StepBody {
 public:
  RecordingBody(RecordingDevice& device, const StepPlan& plan) : device_(device), plan_(plan) {}
  void allocate(BufferId buffer) override { note(Recorded::Kind::allocate, buffer, {}); }
  void run(InstructionId id) override {
    Recorded entry;
    entry.plan = &plan_;
    entry.instruction = id;
    device_.write_down(entry);
  }
  void release(BufferId buffer, std::span<const QueueIndex> users) override {
    note(Recorded::Kind::release, buffer, users);
  }

 private:
  void note(Recorded::Kind kind, BufferId buffer, std::span<const QueueIndex> users) {
    Recorded entry;
    entry.kind = kind;
    entry.plan = &plan_;
    entry.buffer = buffer;
    entry.users.assign(users.begin(), users.end());
    device_.write_down(entry);
  }

  RecordingDevice& device_;
  const StepPlan& plan_;
};

using Clock = std::vector<std::uint32_t>;  // how much of each queue is surely done

void include(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

struct Use {
  QueueIndex queue = 0;
  std::uint32_t position = 0;
  std::string label;
};

struct Memory {
  bool alive = false;
  std::optional<Use> writer;
  std::vector<Use> readers;
};

class Replay {
 public:
  Replay(std::size_t queues, Queueing queueing)
      : on_host_(queueing == Queueing::on_host),
        queue_clock_(queues, Clock(queues)),
        host_clock_(queues),
        done_(queues),
        released_(queues) {}

  std::string run(const Recording& recording) {
    for (const Recorded& entry : recording) {
      take(entry);
      if (!defect_.empty()) return defect_;
    }
    return {};
  }

 private:
  void take(const Recorded& entry) {
    Clock& clock = queue_clock_[entry.queue];
    if (entry.kind != Recorded::Kind::block) include(clock, host_clock_);
    switch (entry.kind) {
      case Recorded::Kind::record:
        events_.resize(std::max(events_.size(), entry.event + 1));
        events_[entry.event] = clock;
        break;
      case Recorded::Kind::wait:
        include(clock, events_.at(entry.event));
        if (on_host_) include(host_clock_, events_.at(entry.event));
        break;
      case Recorded::Kind::block: include(host_clock_, events_.at(entry.event)); break;
      case Recorded::Kind::allocate: allocate(entry, entry.buffer); break;
      case Recorded::Kind::release: release(entry, entry.buffer); break;
      case Recorded::Kind::run: run(entry); break;
      case Recorded::Kind::delay: break;  // of no effect on what is surely done
    }
  }

  Memory& memory(const Recorded& entry, BufferId id) { return memory_[entry.plan->buffer(id).name]; }
  QueueIndex owner(const Recorded& entry, BufferId id) {
    const std::string& name = entry.plan->streams[entry.plan->buffer(id).stream.index()].name;
    const auto [known, added] = owners_.try_emplace(name, static_cast<QueueIndex>(owners_.size()));
    return known->second;
  }

  void allocate(const Recorded& entry, BufferId id) {
    Memory& made = memory(entry, id);
    if (made.alive) fail(entry.plan->buffer(id).name + " is allocated twice");
    made = {true, {}, {}};
    if (on_host_) return;
    // Whoever used what was released on this queue must be through before the instruction that gets its
    // memory.
    std::vector<Use>& released = released_[owner(entry, id)];
    inherited_.insert(inherited_.end(), released.begin(), released.end());
    released.clear();
  }

  void release(const Recorded& entry, BufferId id) {
    Memory& gone = memory(entry, id);
    gone.alive = false;
    if (on_host_) return check_unused(entry, id, gone);
    const auto covered = [&](const Use& use) {
      return std::find(entry.users.begin(), entry.users.end(), use.queue) != entry.users.end();
    };
    std::vector<Use>& released = released_[owner(entry, id)];
    if (gone.writer && !covered(*gone.writer)) released.push_back(*gone.writer);
    for (const Use& reader : gone.readers) {
      if (!covered(reader)) released.push_back(reader);
    }
  }

  void check_unused(const Recorded& entry, BufferId id, const Memory& gone) {
    const auto running = [&](const Use& use) {
      if (host_clock_[use.queue] < use.position)
        fail(entry.plan->buffer(id).name + " is released while it is used by " + use.label);
    };
    if (gone.writer) running(*gone.writer);
    for (const Use& reader : gone.readers) running(reader);
  }

  void run(const Recorded& entry) {
    const Instruction& instruction = entry.plan->instruction(entry.instruction);
    const std::string label =
        std::string(to_string(entry.plan->phase)) + " " + instruction_label(*entry.plan, entry.instruction);
    const bool segment = runs_segment(instruction.kind);
    if (segment) {
      for (const BufferId id : instruction.allocates) allocate(entry, id);
    }
    const Clock before = queue_clock_[entry.queue];
    const auto after = [&](const Use& use, const std::string& what) {
      if (before[use.queue] < use.position) fail(label + " " + what + " " + use.label);
    };
    for (const Use& use : inherited_) after(use, "gets memory that is still used by");
    inherited_.clear();
    const Use own{entry.queue, ++done_[entry.queue], label};
    queue_clock_[entry.queue][entry.queue] = own.position;
    if (on_host_ && entry.queue == 0) host_clock_[0] = own.position;
    for (const BufferId id : instruction.reads) {
      Memory& read = memory(entry, id);
      const std::string& name = entry.plan->buffer(id).name;
      if (!read.alive) fail(label + " reads " + name + ", which is released");
      if (read.writer) after(*read.writer, "reads " + name + " and does not wait for");
      read.readers.push_back(own);
    }
    for (const BufferId id : instruction.writes) {
      Memory& written = memory(entry, id);
      const std::string what = "writes " + entry.plan->buffer(id).name + " and does not wait for";
      if (!written.alive) fail(label + " writes what is released: " + entry.plan->buffer(id).name);
      if (written.writer) after(*written.writer, what);
      for (const Use& reader : written.readers) {
        if (reader.label != label) after(reader, what);
      }
      written.writer = own;
      written.readers.clear();
    }
    if (segment) {
      for (const BufferId id : instruction.frees) release(entry, id);
    }
  }

  void fail(const std::string& what) {
    if (defect_.empty()) defect_ = what;
  }

  const bool on_host_;
  std::vector<Clock> queue_clock_;
  Clock host_clock_;
  std::vector<Clock> events_;
  std::vector<std::uint32_t> done_;
  std::map<std::string, QueueIndex> owners_;
  std::map<std::string, Memory> memory_;  // by the buffer's name, over all steps
  std::vector<std::vector<Use>> released_;
  std::vector<Use> inherited_;  // by the instruction about to run
  std::string defect_;
};

}  // namespace

QueueIndex RecordingDevice::queue(const std::string& name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end()) return static_cast<QueueIndex>(known - names_.begin());
  names_.push_back(name);
  return static_cast<QueueIndex>(names_.size() - 1);
}

EventHandle RecordingDevice::record(QueueIndex queue) {
  auto event = std::make_shared<Number>();
  event->value = events_++;
  Recorded entry;
  entry.kind = Recorded::Kind::record;
  entry.queue = queue;
  entry.event = event->value;
  recording_.push_back(entry);
  return event;
}

void RecordingDevice::wait(QueueIndex queue, const EventHandle& event) {
  Recorded entry;
  entry.kind = Recorded::Kind::wait;
  entry.queue = queue;
  entry.event = number_of(event);
  recording_.push_back(entry);
}

void RecordingDevice::block(const EventHandle& event) {
  Recorded entry;
  entry.kind = Recorded::Kind::block;
  entry.event = number_of(event);
  recording_.push_back(entry);
}

void RecordingDevice::delay(QueueIndex queue, Nanoseconds time) {
  Recorded entry;
  entry.kind = Recorded::Kind::delay;
  entry.queue = queue;
  entry.time = time;
  recording_.push_back(entry);
}

void RecordingDevice::write_down(Recorded entry) {
  entry.queue = in_use_;
  recording_.push_back(std::move(entry));
}

std::string first_defect(const Recording& recording, std::size_t queues, Queueing queueing) {
  return Replay(queues, queueing).run(recording);
}

namespace {

void issue(const std::vector<const StreamSchedule*>& steps, RecordingDevice& device, StepIssuer& issuer) {
  for (const StreamSchedule* step : steps) {
    RecordingBody body(device, *step->plan);
    IssuedStep issued;
    issuer.issue(*step, body, false, issued);
  }
}

}  // namespace

std::string first_defect(const std::vector<const StreamSchedule*>& steps, Queueing queueing) {
  RecordingDevice device(queueing);
  StepIssuer issuer(device);
  issue(steps, device, issuer);
  return first_defect(device.recording(), device.queues(), queueing);
}

Recording record_steps(const std::vector<const StreamSchedule*>& steps, Queueing queueing,
                       std::optional<Jitter> jitter) {
  RecordingDevice device(queueing);
  StepIssuer issuer(device, jitter);
  issue(steps, device, issuer);
  return device.recording();
}

}  // namespace shardlab::test
