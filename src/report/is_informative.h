#pragma once
#include "report/section.h"

namespace protocom {

/// Returns whether a figure is worth showing: a single bar, curves of one point, and nothing but zeros are not.
bool is_informative(const Figure& figure);

/// Returns whether an analysis is worth showing: not if it compares methods but has only one, nor without a table of
/// two rows or a figure.
bool is_informative(const Section& section);

/// Returns the section without its uninformative figures.
Section with_informative_figures(Section section);

}  // namespace protocom
