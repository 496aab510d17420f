// Mathematical functions of DOUBLE, each the algorithm of Java's StrictMath, with the same bits.

#include "function.cuh"

// -1, 0 or 1; zeros and NaN are themselves, as Math.signum has it.
MILLRACE_FUNCTION double sign(double value) {
  return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : value;
}
