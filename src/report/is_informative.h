#pragma once
#include "report/section.h"

namespace protocom {

/// Whether a figure is worth showing: a single bar, curves of one point, or nothing but zeros are not.
bool is_informative(const Figure& figure);

/// The same of an analysis: one that compares methods of which there is only one is not, nor is one without a table of
/// two rows or a figure.
bool is_informative(const Section& section);

/// The section without the figures that are not informative.
Section with_informative_figures(Section section);

}  // namespace protocom
