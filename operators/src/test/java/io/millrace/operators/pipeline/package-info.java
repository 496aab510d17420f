// SPDX-License-Identifier: Apache-2.0
/** From pinned host memory through the device and back. */
package io.millrace.operators.pipeline;
