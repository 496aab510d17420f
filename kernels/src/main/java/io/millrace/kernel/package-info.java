// SPDX-License-Identifier: Apache-2.0
/** Operations over tables, a package each: CUDA kernels and their plain-Java twins. */
package io.millrace.kernel;
