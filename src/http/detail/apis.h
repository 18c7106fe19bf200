#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "http/detail/api.h"

namespace protocom::http {

/// What a server serves: one recognizer, or all in a folder, each with its own backbone, threads and limits.
class Apis {
 public:
  /// Serves a file, or the *.pcm of a folder. Throws Error for a folder without any, or with one named like a path of
  /// the server ("v1.pcm"), and what Api's constructor throws.
  Apis(const std::filesystem::path& recognizer, const ServerOptions& options);

  /// Returns the Api of the recognizer that the path begins with ("/birds/v1/classes"), and removes that from the path,
  /// or that the path names as model in the Open Inference Protocol ("/v2/models/birds/infer"); otherwise the first
  /// recognizer's.
  [[nodiscard]] Api& of(Head& head) const;
  /// Calls Api::invite for each.
  void invite(const Invitation& invitation) const;
  /// Calls Api::allow_sharing for each.
  void allow_sharing(const Sharing& sharing) const;
  /// Answers the requests that wait for a change.
  void stop_following() const;
  /// The first one, whose metrics count connections.
  [[nodiscard]] Api& first() const { return *apis_.front(); }

 private:
  /// Returns the Api of the recognizer that a path of one part names ("/my%20birds"); nullptr: none has that name.
  [[nodiscard]] Api* named(std::string_view path) const;

  std::vector<std::string> names_;  // if it serves a folder
  std::vector<std::unique_ptr<Api>> apis_;
};

}  // namespace protocom::http
