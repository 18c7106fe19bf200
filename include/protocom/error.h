#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// Every error that this library throws, whatever the cause (a file, a format, an argument, memory). `what()` is one
/// sentence that states what was expected, what was found, where (`attributes.csv:17`) and what to do. It is one line
/// of at most 1000 bytes: control characters in quoted text become spaces or question marks, and a longer message loses
/// its middle. The library neither prints nor ends the process. Exceptions of the caller's own functions (a Progress,
/// an OwnMethod) pass unchanged. The command line exits with 1.
class PROTOCOM_API Error : public std::runtime_error {
 public:
  explicit Error(std::string_view message);
  Error(const Error& other);
  Error& operator=(const Error& other);
  ~Error() override;
};

/// An invalid request, whatever the files contain: an unknown method, a negative number of shots. The command line
/// exits with 2.
class PROTOCOM_API UsageError : public Error {
 public:
  explicit UsageError(std::string_view message);
  UsageError(const UsageError& other);
  UsageError& operator=(const UsageError& other);
  ~UsageError() override;
};

/// Warnings, a sentence each; results carry them.
using Warnings = std::vector<std::string>;

}  // namespace protocom::v0

namespace protocom {
using v0::Error;
using v0::UsageError;
using v0::Warnings;
}  // namespace protocom
