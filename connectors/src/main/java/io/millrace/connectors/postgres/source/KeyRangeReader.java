// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.Session;
import io.millrace.connectors.postgres.copy.CopyBlockBuilder;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.flink.connector.base.source.reader.RecordsBySplits;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/** Reads one range after the other in blocks of rows, on a thread of its own. */
final class KeyRangeReader implements SplitReader<KeyRangeReader.Block, KeyRange> {
  // Blocks become one batch each; large rows should not make a large one.
  private static final int MAX_BLOCK_BYTES = 8 << 20;

  private final PostgresSourceOptions options;
  private final Schema schema;
  private final Session session;
  private final CopyBlockBuilder builder;
  private final Queue<KeyRange> ranges = new ArrayDeque<>();
  // null if no range is open.
  private CopyOut copy;

  /** Rows, and the position behind them. */
  static final class Block {
    private final byte[] rows;
    private final String position;

    private Block(byte[] rows, String position) {
      this.rows = rows;
      this.position = position;
    }

    /** The rows, as COPY has them. */
    byte[] rows() {
      return rows;
    }

    /** The key of the last row. */
    String position() {
      return position;
    }
  }

  KeyRangeReader(PostgresSourceOptions options, Schema schema) {
    this.options = options;
    this.schema = schema;
    this.session = new Session(options.connection(), "millrace source", connection -> {});
    this.builder = new CopyBlockBuilder(options.batchRows(), MAX_BLOCK_BYTES);
  }

  @Override
  public RecordsWithSplitIds<Block> fetch() throws IOException {
    RecordsBySplits.Builder<Block> records = new RecordsBySplits.Builder<>();
    KeyRange range = ranges.peek();
    if (range == null) {
      return records.build();
    }
    try {
      if (copy == null) {
        open(range);
      }
      boolean hasMore = true;
      while (hasMore && !builder.isFull()) {
        byte[] message = copy.readFromCopy();
        hasMore = message != null && builder.add(message);
      }
      if (builder.rows() > 0) {
        String position = builder.position();
        records.add(range, new Block(builder.finish(), position));
      }
      if (!hasMore) {
        finish();
        ranges.remove();
        records.addFinishedSplit(range.splitId());
      }
    } catch (SQLException e) {
      throw new IOException(
          "PostgreSQL: " + options.table() + " cannot be read: " + e.getMessage(), e);
    }
    return records.build();
  }

  private void open(KeyRange range) throws SQLException {
    Connection connection = session.connection();
    TableSnapshot.begin(connection, range.snapshot());
    String keyType;
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(KeyRangeQuery.keyType(options))) {
      rows.next();
      keyType = rows.getString(1);
    }
    builder.start();
    copy =
        connection
            .unwrap(PGConnection.class)
            .getCopyAPI()
            .copyOut(KeyRangeQuery.copy(options, schema, range, keyType));
  }

  private void finish() throws SQLException {
    // The server's end of the COPY follows the trailer.
    while (copy.isActive() && copy.readFromCopy() != null) {}
    copy = null;
    try (Statement statement = session.connection().createStatement()) {
      statement.execute("COMMIT");
    }
  }

  @Override
  public void handleSplitsChanges(SplitsChange<KeyRange> change) {
    ranges.addAll(change.splits());
  }

  /** Reads end by themselves: after a block, or when the server does not answer for too long. */
  @Override
  public void wakeUp() {}

  @Override
  public void close() {
    session.close();
  }
}
