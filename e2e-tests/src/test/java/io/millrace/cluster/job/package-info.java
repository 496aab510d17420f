// SPDX-License-Identifier: Apache-2.0
/** The content of a job jar: classes that only Flink's user-code class loader may load. */
package io.millrace.cluster.job;
