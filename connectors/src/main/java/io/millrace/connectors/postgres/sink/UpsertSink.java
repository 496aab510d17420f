// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.Schema;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.util.clock.SystemClock;

/** Writes each encoded batch to its target at once; rows that come again replace themselves. */
final class UpsertSink implements Sink<byte[]> {
  private static final long serialVersionUID = 1L;

  private final PostgresSinkOptions options;
  private final Schema schema;
  private final MergeStatements statements;

  /**
   * @param schema of the batches
   */
  UpsertSink(PostgresSinkOptions options, Schema schema, MergeStatements statements) {
    this.options = options;
    this.schema = schema;
    this.statements = statements;
  }

  @Override
  public SinkWriter<byte[]> createWriter(WriterInitContext context) {
    return new UpsertWriter(
        options, schema, statements, context.metricGroup(), SystemClock.getInstance());
  }
}
