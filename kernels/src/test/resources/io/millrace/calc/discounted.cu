// SPDX-License-Identifier: Apache-2.0
// A user's device function. Compiled with: nvcc -ptx -rdc=true -arch=compute_80 -fmad=false discounted.cu
extern "C" __device__ double discounted(double price, int percent) {
  return price * (100 - percent) / 100;
}
