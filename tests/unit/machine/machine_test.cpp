// The machine that the tests run on, recorded and read again; and the formats of its texts.
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include <netinet/in.h>

#include "engine/machine/gather_texts.h"
#include "engine/machine/gpu_tables.h"
#include "engine/machine/read_facts.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

TEST_CASE("this machine says what it is, keeps its secrets, and reads back the same") {
  const MachineTexts texts =
      gather_texts({{"NCCL_DEBUG", "INFO"}, {"HF_TOKEN", "s"}, {"SLURM_KEY", "s"}, {"HOME", "/root"}});
  CHECK(texts.at("environment") == "NCCL_DEBUG=INFO\n");
  const test::TemporaryFolder folder;
  REQUIRE(write_machine(texts, folder.path() / "rank_00000"));
  const auto read = read_machines(folder.path());
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK(read->front().texts == texts);
  const auto known = known_variables();
  REQUIRE(known);
  const MachineFacts facts = read_facts(read->front(), *known);
  CHECK_FALSE(facts.host.empty());
  CHECK(facts.memory.has_value());
  const auto is_loopback = [](const NetworkInterface& each) { return each.is_loopback() && each.is_up; };
  CHECK(std::any_of(facts.interfaces.begin(), facts.interfaces.end(), is_loopback));
  CHECK_FALSE(read_machines(folder.path() / "rank_00000" / "hostname"));
}

// A socket of the loopback that listens, and its port.
class Listening {
 public:
  Listening() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const named = reinterpret_cast<sockaddr*>(&address);  // NOLINT: as sockets want it
    REQUIRE(bind(socket_, named, size) == 0);
    REQUIRE(listen(socket_, 1) == 0);
    REQUIRE(getsockname(socket_, named, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listening() { close(); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  int port() const { return port_; }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
  int port_ = 0;
};

TEST_CASE("a head is connected, refuses, or has a name that nobody knows") {
  Listening head;
  const std::chrono::seconds patience{5};
  CHECK(contact_head("127.0.0.1", head.port(), patience) == Contact::connected);
  const auto known = known_variables();
  REQUIRE(known);
  const MachineTexts texts =
      gather_texts({{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", std::to_string(head.port())}});
  const MachineFacts facts = read_facts({"here", texts}, *known);
  REQUIRE(facts.head);
  CHECK(facts.head->what == Contact::connected);
  CHECK(std::find(facts.listening.begin(), facts.listening.end(), head.port()) != facts.listening.end());
  head.close();
  CHECK(contact_head("127.0.0.1", head.port(), patience) == Contact::refused);
  CHECK(contact_head("no-such-host.invalid", 29500, patience) == Contact::unknown_name);
}

TEST_CASE("matrices of nvidia-smi are read with and without the colours of a terminal") {
  const std::string rows = "\nGPU0\t X \tNV18\tSYS\nGPU1\tNV18\t X \tPIX\nNIC0\tSYS\tPIX\t X \n\nLegend:\n";
  const GpuMatrix expected = {{"X", "NV18"}, {"NV18", "X"}};
  CHECK(gpu_matrix_of("\tGPU0\tGPU1\tNIC0" + rows) == expected);
  CHECK(gpu_matrix_of("\t\x1b[4mGPU0\tGPU1\tNIC0\x1b[0m" + rows) == expected);
  CHECK(gpu_matrix_of("").empty());
  CHECK(gpu_matrix_of("\tGPU0\tGPU1\nGPU0\tX\tOK\n").empty());  // cut off
}

TEST_CASE("devices that a process is shown") {
  MachineFacts machine;
  machine.gpus.resize(4);
  CHECK(visible_gpus(machine) == 4);
  machine.environment["CUDA_VISIBLE_DEVICES"] = "1,3";
  CHECK(visible_gpus(machine) == 2);
  machine.environment["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5";
  CHECK(visible_gpus(machine) == 4);
  machine.environment["CUDA_VISIBLE_DEVICES"] = "";
  CHECK(visible_gpus(machine) == 0);
}

}  // namespace
}  // namespace shardlab
