// The folder in which the ranks of a run leave their files: whose it may be, and which files are the ranks'
// own. Where ranks of another launcher meet, its name can be guessed and others may have been there before.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// Whether runs write files of this name: jobs, spools, logs, results of probes, orders.
bool is_run_file(std::string_view name);

// The folder, open to this user alone; made when it is not there. not_possible for a link, for what is no
// folder and for the folder of another user.
Status make_run_folder(const std::filesystem::path& folder);

// Nothing when there is no such folder yet; else what make_run_folder() says.
Status check_run_folder(const std::filesystem::path& folder);

// Removes the files that runs write, also those of single runs in it, and leaves everything else. Follows no
// link. run_failed when one cannot be removed.
Status empty_run_folder(const std::filesystem::path& folder);

// The same, and the folder when nothing else is in it. A link is left alone.
void remove_run_folder(const std::filesystem::path& folder);

}  // namespace shardlab
