#pragma once
#include <string>
#include <vector>

namespace protocom {

/// The colour classes of methods that are shown together, by their labels: the paper's rows have their own ("m-mean",
/// ...), every other one has its place in the list of methods ("extra-1", ...), and variants of one method or methods
/// that protocom does not know take the next that is free.
std::vector<std::string> method_classes(const std::vector<std::string>& labels);

/// The colour class of a method that is shown alone.
std::string method_class(const std::string& label);

/// What a method does, in a few words; empty for one that protocom does not know.
std::string method_about(const std::string& label);

/// "gauss-fusion (transductive)"; an inductive method is called by its name alone.
std::string method_label(const std::string& label, const std::string& mode);

}  // namespace protocom
