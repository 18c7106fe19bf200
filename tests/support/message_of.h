#pragma once
#include <string>

#include "base/error.h"

namespace protocom::testing {

/// Returns the message of the Error that `call` throws, or "(no Error)".
template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no Error)";
}

/// Returns the message of a UsageError; an Error of another kind gives "(no UsageError)".
template <typename Call>
std::string usage_message_of(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  } catch (const Error&) {
    return "(no UsageError)";
  }
  return "(no Error)";
}

}  // namespace protocom::testing
