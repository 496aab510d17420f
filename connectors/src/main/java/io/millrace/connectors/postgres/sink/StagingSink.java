// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.Schema;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.util.clock.SystemClock;

/** Writes encoded batches exactly once: staged with a checkpoint, committed behind it. */
final class StagingSink
    implements Sink<byte[]>,
        SupportsWriterState<byte[], WriterPosition>,
        SupportsCommitter<StagedRows> {
  private static final long serialVersionUID = 1L;
  private static final int NAME_LENGTH = 16;

  private final PostgresSinkOptions options;
  private final Schema schema;
  private final MergeStatements statements;

  /**
   * @param schema of the batches
   */
  StagingSink(PostgresSinkOptions options, Schema schema, MergeStatements statements) {
    this.options = options;
    this.schema = schema;
    this.statements = statements;
  }

  @Override
  public SinkWriter<byte[]> createWriter(WriterInitContext context) throws IOException {
    return restoreWriter(context, List.of());
  }

  @Override
  public StatefulSinkWriter<byte[], WriterPosition> restoreWriter(
      WriterInitContext context, Collection<WriterPosition> restored) throws IOException {
    String name = UUID.randomUUID().toString().replace("-", "").substring(0, NAME_LENGTH);
    return new StagingWriter(
        options, schema, statements, name, restored, context, SystemClock.getInstance());
  }

  @Override
  public Committer<StagedRows> createCommitter(CommitterInitContext context) {
    return new StagedRowsCommitter(
        options, statements, context.metricGroup(), SystemClock.getInstance());
  }

  @Override
  public SimpleVersionedSerializer<WriterPosition> getWriterStateSerializer() {
    return new WriterPositionSerializer();
  }

  @Override
  public SimpleVersionedSerializer<StagedRows> getCommittableSerializer() {
    return new StagedRowsSerializer();
  }
}
