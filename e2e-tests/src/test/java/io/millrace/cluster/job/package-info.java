/** The content of a job jar: classes that only Flink's user-code class loader may load. */
package io.millrace.cluster.job;
