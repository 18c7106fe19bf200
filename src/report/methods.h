#pragma once
#include <string>
#include <vector>

namespace protocom {

struct MethodSpec;

/// Returns the method of a label ("gauss-fusion:scale=20"); null for a method that protocom does not know, as in
/// results of other programs.
const MethodSpec* spec_of(const std::string& label);

/// Returns the series classes of methods that are shown together, by their labels: colour, mark and dash. A method of
/// protocom given by its name alone has the same one in every figure of every report, whatever else is shown ("m-mean"
/// of the paper's rows, "extra-3"). One with parameters or of other programs has one of twelve others by its whole
/// label ("other-5"), or the next free one if that is taken here.
std::vector<std::string> method_classes(const std::vector<std::string>& labels);

/// Returns the series class of a method that is shown alone.
std::string method_class(const std::string& label);

/// Describes what a method does in a few words; empty for one that protocom does not know.
std::string method_about(const std::string& label);

/// Returns "assumes balanced queries" for a method that does, without which its figures would mislead; else empty.
std::string method_assumes(const std::string& label);

/// Returns "gauss-fusion (transductive)"; for an inductive method its name alone.
std::string method_label(const std::string& label, const std::string& mode);

}  // namespace protocom
