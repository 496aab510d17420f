// SPDX-License-Identifier: Apache-2.0
/** Samples of rows by the hash of their values. */
package io.millrace.expression.function.sample;
