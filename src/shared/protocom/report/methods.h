#pragma once
#include <string>
#include <vector>

namespace protocom {

/// The colour classes of methods that are shown together, by their labels: the paper's rows have their own ("m-mean",
/// ...), every other one has a place among the 24 others that follows from its name alone ("extra-1", ...). Where that
/// is taken, by a variant of the same method or by a name that falls there too, it is the next that is free, so that no
/// two are alike unless there are more methods than colours.
std::vector<std::string> method_classes(const std::vector<std::string>& labels);

/// The colour class of a method that is shown alone.
std::string method_class(const std::string& label);

/// What a method does, in a few words; empty for one that protocom does not know.
std::string method_about(const std::string& label);

/// "assumes balanced queries", of a method that does, without which its figures are not to be read; else empty.
std::string method_assumes(const std::string& label);

/// "gauss-fusion (transductive)"; an inductive method is called by its name alone.
std::string method_label(const std::string& label, const std::string& mode);

}  // namespace protocom
