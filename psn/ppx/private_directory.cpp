#include "psn/ppx/private_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "psn/base/error.h"

namespace psn::ppx {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "psn-";
constexpr std::size_t kRandom = 6;  // characters after it, as mkdtemp() makes them

Descriptor opened(const fs::path& folder) {
  return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Ours, and with nothing in it but sockets: a folder of that name may be anybody's.
bool looks_like_one(const Descriptor& folder, const fs::path& path) {
  struct stat status {};
  if (::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & 0777) != 0700) {
    return false;
  }
  std::error_code error;
  const bool sockets_only =
      std::all_of(fs::directory_iterator(path, error), fs::directory_iterator(),
                  [](const fs::directory_entry& entry) {
                    std::error_code unreadable;
                    return entry.symlink_status(unreadable).type() == fs::file_type::socket;
                  });
  return !error && sockets_only;
}

}  // namespace

PrivateDirectory::PrivateDirectory() {
  std::error_code error;
  do {
    path_ = (fs::temp_directory_path() / kPrefix).string() + std::string(kRandom, 'X');
    if (!::mkdtemp(path_.data())) throw DataError(fmt::format("cannot make '{}'", path_));
    lock_ = opened(path_);
    lock_.lock();
    // Another process may have taken it for abandoned before it was locked.
  } while (!fs::exists(path_, error));
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void PrivateDirectory::remove_abandoned() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path(error), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kRandom) continue;
    const Descriptor folder = opened(entry.path());
    if (folder.get() < 0 || !looks_like_one(folder, entry.path()) || !folder.try_lock()) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace psn::ppx
