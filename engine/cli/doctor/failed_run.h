// What the doctor makes of a real run that failed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

struct Diagnosis {
  std::string rule;  // its id
  std::vector<std::string> codes;
  std::string title;
  std::string file;  // the log that shows it; empty: the error itself does
};

// By the error, which knows who failed first, and by the ranks' logs in the run's folder, each as `shardlab
// doctor FILE` reads it: the error's cause with the first log that shows it, else the surest cause of the
// logs. Nothing where no rule knows more than that another process ended.
std::optional<Diagnosis> diagnose_failed_run(const std::filesystem::path& folder, const Error& error);

// "doctor: network/wrong-interface: the wrong network interface; `shardlab doctor F` says more".
std::string diagnosis_text(const Diagnosis& diagnosis);

}  // namespace shardlab
