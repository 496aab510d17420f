// SPDX-License-Identifier: Apache-2.0
/** The command {@code millrace cluster}: a Flink cluster of processes on this machine. */
package io.millrace.jobs.cluster;
