// SPDX-License-Identifier: Apache-2.0
/** Evaluates typed expressions over tables in host memory. */
package io.millrace.expression.host;
