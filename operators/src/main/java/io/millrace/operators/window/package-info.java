// SPDX-License-Identifier: Apache-2.0
/** Aggregates by key and window of event time or processing time, over state tables of slices. */
package io.millrace.operators.window;
