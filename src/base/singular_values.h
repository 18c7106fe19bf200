#pragma once
#include "base/matrix.h"
// After it, so that it decides how Eigen multiplies; apart, since it costs a source two seconds.
#include <Eigen/SVD>
