#pragma once
#include <string>
#include <vector>

namespace protocom {

struct MethodSpec;

/// The method that a label ("gauss-fusion:scale=20") is of; null for one that protocom does not know, as in results of
/// other programs.
const MethodSpec* spec_of(const std::string& label);

/// The series classes of methods that are shown together, by their labels: colour, mark and dash. A method that
/// protocom knows, by its name alone, has one of its own in every figure of every report, whatever else is shown
/// ("m-mean" of the paper's rows, "extra-3"). One with parameters and a method of others have one of twelve further
/// ones by their whole label ("other-5"), or where another of these has it here the next that is free.
std::vector<std::string> method_classes(const std::vector<std::string>& labels);

/// The series class of a method that is shown alone.
std::string method_class(const std::string& label);

/// What a method does, in a few words; empty for one that protocom does not know.
std::string method_about(const std::string& label);

/// "assumes balanced queries", of a method that does, without which its figures are not to be read; else empty.
std::string method_assumes(const std::string& label);

/// "gauss-fusion (transductive)"; an inductive method is called by its name alone.
std::string method_label(const std::string& label, const std::string& mode);

}  // namespace protocom
