// SPDX-License-Identifier: Apache-2.0
/**
 * Processors that run kernels: a CUDA GPU or the host itself, their streams, events, staging memory
 * and kernel modules. The only package that knows JCuda.
 */
package io.millrace.device;
