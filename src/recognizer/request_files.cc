#include "recognizer/detail/request_files.h"

#include "base/error.h"

namespace protocom {

RequestFiles find_files(const std::vector<EnrolRequest>& requests) {
  RequestFiles files;
  for (size_t i = 0; i < requests.size(); ++i) {
    files.skipped.add(requests[i].skipped);
    if (requests[i].images.empty()) continue;
    try {
      const FoundImages found = find_images(requests[i].images);
      files.paths.insert(files.paths.end(), found.paths.begin(), found.paths.end());
      files.owner.resize(files.paths.size(), i);
      files.skipped.add(found.skipped);
      files.unreadable.insert(files.unreadable.end(), found.unreadable.begin(), found.unreadable.end());
    } catch (const Error& error) {
      files.unreadable.push_back({requests[i].images.front(), error.what()});
    }
  }
  return files;
}

}  // namespace protocom
