// SPDX-License-Identifier: Apache-2.0
/**
 * Runs suites of tests that Flink publishes for its SQL, with Millrace's nodes in the plans of
 * their queries.
 */
package io.millrace.flinksuites;
