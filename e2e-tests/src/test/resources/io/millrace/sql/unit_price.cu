// SPDX-License-Identifier: Apache-2.0
// UnitPrice. Compiled with: nvcc -ptx -rdc=true -arch=compute_80 -fmad=false unit_price.cu
#include <cstdint>

// millrace::Outcome<double> of cuda/function/function.cuh.
struct Outcome {
  double value;
  int32_t status;
};

enum Status : int32_t { VALUE = 0, NULL_VALUE = 1, DIVISION_BY_ZERO = 2 };

extern "C" __device__ Outcome unit_price(double price, int32_t units) {
  if (units < 0) {
    return {0, NULL_VALUE};
  }
  return units == 0 ? Outcome{0, DIVISION_BY_ZERO} : Outcome{price / units, VALUE};
}
