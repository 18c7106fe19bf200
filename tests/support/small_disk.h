#pragma once
#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <utility>

namespace protocom::testing {

/// A disk of that size ("200k") mounted at a folder, which requires the right to mount.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, const std::string& size, unsigned long flags = 0)
      : folder_(std::move(folder)),
        there_(::mount("none", folder_.c_str(), "tmpfs", flags, ("size=" + size).c_str()) == 0) {}
  ~SmallDisk() {
    if (there_) ::umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool there() const { return there_; }

 private:
  std::filesystem::path folder_;
  bool there_;
};

}  // namespace protocom::testing
