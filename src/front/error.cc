#include "protocom/error.h"

#include "protocom/version.h"

namespace protocom::v0 {

// Here, so that the classes' type information lies in the library alone.
Error::Error(const std::string& message) : std::runtime_error(message) {}
Error::Error(const Error& other) = default;
Error& Error::operator=(const Error& other) = default;
Error::~Error() = default;

UsageError::UsageError(const std::string& message) : Error(message) {}
UsageError::UsageError(const UsageError& other) = default;
UsageError& UsageError::operator=(const UsageError& other) = default;
UsageError::~UsageError() = default;

const char* version() { return PROTOCOM_VERSION; }

}  // namespace protocom::v0
