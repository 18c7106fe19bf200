#pragma once
#include <functional>
#include <memory>

#include "fewshot/method.h"

namespace protocom {

/// Adds a method without parameters to those that make_method() finds, for the life of the process: for programs that
/// bring one of their own. method_specs() stays the list of those of the library. Thread-safe. Throws UsageError for a
/// name that is taken or cannot be typed as one (small letters, digits, hyphens).
void add_method(MethodSpec spec, std::function<std::unique_ptr<Method>()> make);

/// What was added so far, in that order. The specs stay where they are.
std::vector<const MethodSpec*> added_method_specs();

}  // namespace protocom
