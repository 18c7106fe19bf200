#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// Everything that this library throws, whatever the cause (a file, a format, an argument, memory): `what()` is one
/// sentence of at most 1000 bytes that says what was expected, what was found and where. The library neither prints nor
/// ends the process. What the caller's own functions throw (a Progress, an OwnMethod) leaves as it is.
class PROTOCOM_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
  Error(const Error& other);
  Error& operator=(const Error& other);
  ~Error() override;
};

/// A request that cannot be right whatever the files hold: an unknown method, a negative number of shots.
class PROTOCOM_API UsageError : public Error {
 public:
  explicit UsageError(const std::string& message);
  UsageError(const UsageError& other);
  UsageError& operator=(const UsageError& other);
  ~UsageError() override;
};

/// What deserves attention and stops nothing, a sentence each; results carry it.
using Warnings = std::vector<std::string>;

}  // namespace protocom::v0
