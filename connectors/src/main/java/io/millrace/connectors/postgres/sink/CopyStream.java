// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.copy.CopyBinaryEncoder;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/** Sends encoded rows to the database by COPY. */
final class CopyStream {
  // Below the gigabyte that a message may have, and large enough that messages cost nothing.
  private static final int MESSAGE_BYTES = 1 << 20;

  private final byte[] start;
  private final byte[] end;

  /**
   * @param schema of the rows
   */
  CopyStream(Schema schema) {
    CopyBinaryEncoder encoder = new CopyBinaryEncoder();
    this.start = encoder.fileStart(schema);
    this.end = encoder.fileEnd();
  }

  /**
   * Sends the rows of one batch, in the connection's transaction.
   *
   * @param copy a COPY of the rows' columns
   * @return the number of rows
   */
  long send(Connection connection, String copy, byte[] rows) throws SQLException {
    CopyIn in = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(copy);
    try {
      in.writeToCopy(start, 0, start.length);
      for (int from = 0; from < rows.length; from += MESSAGE_BYTES) {
        in.writeToCopy(rows, from, Math.min(MESSAGE_BYTES, rows.length - from));
      }
      in.writeToCopy(end, 0, end.length);
      return in.endCopy();
    } finally {
      if (in.isActive()) {
        in.cancelCopy();
      }
    }
  }
}
