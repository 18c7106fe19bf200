#pragma once
#include <functional>
#include <string>

#include "protocom/core/error.h"

namespace protocom::testing {

/// What the Error says that `action` throws.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace protocom::testing
