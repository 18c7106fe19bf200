#pragma once

namespace protocom {

/// Adds the methods that are trained by gradients to those that are called by name. At the start of a program
/// (add_definitions); src/add_trained_methods.cc does it where it is linked.
void add_trained_methods();

}  // namespace protocom
