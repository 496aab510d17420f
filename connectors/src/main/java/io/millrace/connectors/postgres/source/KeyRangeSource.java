// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.column.Schema;
import java.util.Collection;
import java.util.Optional;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** The rows of a table in blocks, as COPY has them. */
final class KeyRangeSource implements Source<byte[], KeyRange, Collection<KeyRange>> {
  private static final long serialVersionUID = 1L;

  private final PostgresSourceOptions options;
  private final Schema schema;

  /**
   * @param schema the columns to read
   */
  KeyRangeSource(PostgresSourceOptions options, Schema schema) {
    this.options = options;
    this.schema = schema;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.BOUNDED;
  }

  @Override
  public SourceReader<byte[], KeyRange> createReader(SourceReaderContext context) {
    return new KeyRangeSourceReader(() -> new KeyRangeReader(options, schema), context);
  }

  @Override
  public SplitEnumerator<KeyRange, Collection<KeyRange>> createEnumerator(
      SplitEnumeratorContext<KeyRange> context) {
    return new KeyRangeEnumerator(context, new TableSnapshot(options), Optional.empty());
  }

  @Override
  public SplitEnumerator<KeyRange, Collection<KeyRange>> restoreEnumerator(
      SplitEnumeratorContext<KeyRange> context, Collection<KeyRange> unassigned) {
    return new KeyRangeEnumerator(context, new TableSnapshot(options), Optional.of(unassigned));
  }

  @Override
  public SimpleVersionedSerializer<KeyRange> getSplitSerializer() {
    return new KeyRangesSerializer().ofOne();
  }

  @Override
  public SimpleVersionedSerializer<Collection<KeyRange>> getEnumeratorCheckpointSerializer() {
    return new KeyRangesSerializer();
  }
}
