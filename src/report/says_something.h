#pragma once
#include "report/section.h"

namespace protocom {

/// Whether there is anything to be seen: not one bar alone, no curve with two points, or nothing but zeros.
bool says_something(const Figure& figure);

/// The same of an analysis: one that compares methods of which there is only one does not, nor does one without a
/// table of two rows or a figure.
bool says_something(const Section& section);

/// The section without the figures in which there is nothing to be seen.
Section with_telling_figures(Section section);

}  // namespace protocom
