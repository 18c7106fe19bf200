#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "http/detail/api.h"

namespace protocom::http {

/// What a server serves: a recognizer, or all of a folder, each with its own backbone, threads and limits.
class Apis {
 public:
  /// Of a file, or of the *.pcm of a folder. Throws Error for a folder without any, or with one that is called as a
  /// path of the server ("v1.pcm"), and what Api's constructor throws.
  Apis(const std::filesystem::path& recognizer, const ServerOptions& options);

  /// Whose request it is, by the name in front of its path ("/birds/v1/classes"), which is taken away; the first
  /// recognizer's, by name, where there is no such name in front.
  [[nodiscard]] Api& of(Head& head) const;
  /// The first: what is counted of connections is counted there.
  [[nodiscard]] Api& first() const { return *apis_.front(); }

 private:
  std::vector<std::string> names_;  // of a folder
  std::vector<std::unique_ptr<Api>> apis_;
};

}  // namespace protocom::http
