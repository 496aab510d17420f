// SPDX-License-Identifier: Apache-2.0
/** Tests of the fluent API: whole jobs, and what is refused when a line is written. */
package io.millrace.operators.api;
