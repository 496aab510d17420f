// SPDX-License-Identifier: Apache-2.0
/** The command {@code millrace sql}: Flink's SQL client on a cluster, and a look at scripts. */
package io.millrace.jobs.sql;
