// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import java.util.Map;
import java.util.function.Supplier;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.base.source.reader.SingleThreadMultiplexSourceReaderBase;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;

/** Emits blocks of rows, and keeps how far each range is. */
@SuppressWarnings("try") // close() may throw anything, as the superclass has it
final class KeyRangeSourceReader
    extends SingleThreadMultiplexSourceReaderBase<
        KeyRangeReader.Block, byte[], KeyRange, KeyRangeSourceReader.Progress> {

  /** How far a range is. */
  static final class Progress {
    private KeyRange rest;

    private Progress(KeyRange rest) {
      this.rest = rest;
    }
  }

  KeyRangeSourceReader(
      Supplier<SplitReader<KeyRangeReader.Block, KeyRange>> reader, SourceReaderContext context) {
    super(
        reader,
        (block, output, progress) -> {
          output.collect(block.rows());
          progress.rest = progress.rest.withPosition(block.position());
        },
        context.getConfiguration(),
        context);
  }

  @Override
  public void start() {
    if (getNumberOfCurrentlyAssignedSplits() == 0) {
      context.sendSplitRequest();
    }
  }

  @Override
  protected void onSplitFinished(Map<String, Progress> finished) {
    if (getNumberOfCurrentlyAssignedSplits() == 0) {
      context.sendSplitRequest();
    }
  }

  @Override
  protected Progress initializedState(KeyRange range) {
    return new Progress(range);
  }

  /** For a checkpoint, which no snapshot outlives. */
  @Override
  protected KeyRange toSplitType(String splitId, Progress progress) {
    return progress.rest.withSnapshot(KeyRange.OWN_SNAPSHOT);
  }
}
