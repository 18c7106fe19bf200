#pragma once
#include <string>

namespace protocom {

/// The colour class of a method's bars and curves, the same in every figure: "m-mean", ...; a method that protocom does
/// not know gets one of four others by its name.
std::string method_class(const std::string& method);

/// What a method does, in a few words; empty for one that protocom does not know.
std::string method_about(const std::string& method);

/// "gauss-fusion (transductive)"; an inductive method is called by its name alone.
std::string method_label(const std::string& method, const std::string& mode);

}  // namespace protocom
