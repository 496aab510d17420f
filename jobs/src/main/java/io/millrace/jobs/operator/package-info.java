// SPDX-License-Identifier: Apache-2.0
/** The operators that only the ETL job has. */
package io.millrace.jobs.operator;
