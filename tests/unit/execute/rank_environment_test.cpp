#include "engine/execute/rank_environment.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

RankEnvironment read(const EnvironmentVariables& variables) {
  const auto environment = rank_environment(variables);
  REQUIRE(environment);
  REQUIRE(*environment);
  return **environment;
}

std::string complaint_about(const EnvironmentVariables& variables) {
  const auto environment = rank_environment(variables);
  REQUIRE_FALSE(environment);
  CHECK(environment.error().kind == ErrorKind::bad_input);
  return where_text(environment.error());
}

const EnvironmentVariables k_torchrun = {
    {"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "n7"}, {"MASTER_PORT", "29500"}};

EnvironmentVariables torchrun_with(const std::string& name, const std::string& value) {
  EnvironmentVariables variables = k_torchrun;
  variables.insert_or_assign(name, value);
  return variables;
}

const EnvironmentVariables k_slurm = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "5"},
                                      {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "1"},
                                      {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_NODELIST", "gpu[003-006,9]"}};

TEST_CASE("no launcher's variables mean no rank") {
  const auto none = rank_environment({{"HOME", "/root"}, {"MASTER_PORT", "1"}});
  REQUIRE(none);
  CHECK_FALSE(*none);
}

TEST_CASE("a launcher's only process is not one of several") {
  EnvironmentVariables variables = k_torchrun;
  REQUIRE(*one_of_several(variables));
  variables["RANK"] = variables["LOCAL_RANK"] = "0";
  variables["WORLD_SIZE"] = "1";
  REQUIRE_OK(one_of_several(variables));
  CHECK_FALSE(*one_of_several(variables));
  variables["WORLD_SIZE"] = "one";
  CHECK_FALSE(one_of_several(variables).has_value());
}

TEST_CASE("torchrun's variables") {
  CHECK(read(k_torchrun) == RankEnvironment{3, 8, 1, "n7", 29500, Launcher::torchrun});
}

TEST_CASE("mpirun's variables") {
  const EnvironmentVariables variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                                          {"OMPI_COMM_WORLD_SIZE", "2"},
                                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                          {"MASTER_PORT", "4000"}};
  CHECK(read(variables) == RankEnvironment{1, 2, 1, "127.0.0.1", 4000, Launcher::mpirun});
}

TEST_CASE("Slurm's variables: master from the node list, port from the job") {
  const RankEnvironment rank = read(k_slurm);
  CHECK(rank.rank == 5);
  CHECK(rank.world == 16);
  CHECK(rank.local_rank == 1);
  CHECK(rank.master_address == "gpu003");
  CHECK(rank.launcher == Launcher::slurm);
  EnvironmentVariables other = k_slurm;
  other["SLURM_PROCID"] = "6";
  CHECK(read(other).master_port == rank.master_port);
  other["SLURM_JOB_ID"] = "78";
  CHECK(read(other).master_port != rank.master_port);
}

TEST_CASE("Slurm names the launching node's address before the list") {
  EnvironmentVariables variables = k_slurm;
  variables["SLURM_LAUNCH_NODE_IPADDR"] = "10.0.0.1";
  CHECK(read(variables).master_address == "10.0.0.1");
  variables["MASTER_ADDR"] = "head";
  CHECK(read(variables).master_address == "head");
}

TEST_CASE("first host of a node list") {
  EnvironmentVariables variables = k_slurm;
  variables["SLURM_STEP_NODELIST"] = "a1,b2";
  CHECK(read(variables).master_address == "a1");
  variables["SLURM_STEP_NODELIST"] = "n[7,9]-ib,m1";
  CHECK(read(variables).master_address == "n7-ib");
}

TEST_CASE("a batch script outside srun is no rank") {
  EnvironmentVariables variables = k_slurm;
  variables.erase("SLURM_STEP_ID");
  const auto none = rank_environment(variables);
  REQUIRE(none);
  CHECK_FALSE(*none);
}

TEST_CASE("contradictory and malformed variables are named") {
  CHECK(complaint_about(torchrun_with("RANK", "8")) == "RANK");
  CHECK(complaint_about(torchrun_with("RANK", "-1")) == "RANK");
  CHECK(complaint_about(torchrun_with("RANK", "three")) == "RANK");
  CHECK(complaint_about(torchrun_with("WORLD_SIZE", "0")) == "WORLD_SIZE");
  CHECK(complaint_about(torchrun_with("WORLD_SIZE", "99999999999999999999")) == "WORLD_SIZE");
  CHECK(complaint_about(torchrun_with("LOCAL_RANK", "4")) == "LOCAL_RANK");
  CHECK(complaint_about(torchrun_with("MASTER_PORT", "70000")) == "MASTER_PORT");
  CHECK(complaint_about({{"RANK", "0"}}) == "WORLD_SIZE");
  CHECK(complaint_about({{"RANK", "0"}, {"WORLD_SIZE", "2"}}) == "MASTER_ADDR");
  CHECK(complaint_about({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n"}}) == "MASTER_PORT");
}

}  // namespace
}  // namespace shardlab
