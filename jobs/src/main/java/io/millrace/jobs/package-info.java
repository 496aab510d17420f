// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs: wiring and options of operators and connectors, no logic of their own.
 *
 * <p>The bad rows of a job are its malformed lines, which cannot be parsed, and its failed rows,
 * for which an expression fails.
 */
package io.millrace.jobs;
