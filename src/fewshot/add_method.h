#pragma once
#include <functional>
#include <memory>

#include "fewshot/method.h"

namespace protocom {

/// Adds a method without parameters to those that make_method() finds, for the lifetime of the process, for programs
/// that define their own. method_specs() lists only the library's. Thread-safe. Throws UsageError for a name that is
/// taken or invalid (lower-case letters, digits, hyphens).
void add_method(MethodSpec spec, std::function<std::unique_ptr<Method>()> make);

/// Returns the methods added so far, in that order. The specs stay where they are.
std::vector<const MethodSpec*> added_method_specs();

}  // namespace protocom
