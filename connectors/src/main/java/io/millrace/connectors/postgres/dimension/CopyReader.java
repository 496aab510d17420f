// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.dimension;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.postgres.Session;
import io.millrace.connectors.postgres.copy.CopyBinaryDecoder;
import io.millrace.connectors.postgres.copy.CopyBlockBuilder;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.lookup.DimensionReader;
import io.millrace.operators.transfer.HostTransfer;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/** Reads a dimension table by one COPY, in blocks of rows. */
final class CopyReader implements DimensionReader {
  private static final int BLOCK_ROWS = 1 << 16;
  private static final int BLOCK_BYTES = 8 << 20;

  private final PostgresDimension dimension;
  private final DeviceContext context;
  private final Session session;
  private final Connection connection;
  private final HostTransfer transfer;
  private final CopyBinaryDecoder decoder;

  /** Connects. */
  CopyReader(PostgresDimension dimension, DeviceContext context) throws SQLException {
    this.dimension = dimension;
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.decoder = new CopyBinaryDecoder(transfer.tableBuilder(nullable(dimension)));
    this.session = new Session(dimension.connection(), "millrace dimension", opened -> {});
    try {
      this.connection = session.connection();
    } catch (SQLException | RuntimeException e) {
      close();
      throw e;
    }
  }

  // What is looked up may be null; keys are not, by the query.
  private static Schema nullable(PostgresDimension dimension) {
    return new Schema(
        dimension.schema().fields().stream().map(f -> Field.of(f.name(), f.type())).toList());
  }

  @Override
  public void read(Consumer<Table> parts) throws SQLException {
    CopyBlockBuilder builder = new CopyBlockBuilder(BLOCK_ROWS, BLOCK_BYTES);
    builder.start();
    CopyOut copy = connection.unwrap(PGConnection.class).getCopyAPI().copyOut(dimension.copy());
    boolean hasMore = true;
    while (hasMore) {
      byte[] message = copy.readFromCopy();
      hasMore = message != null && builder.add(message);
      if (builder.isFull() || (!hasMore && builder.rows() > 0)) {
        ByteBuffer block = ByteBuffer.wrap(builder.finish());
        transfer.toDevice(context.retry().withHostRetry(() -> decoder.decode(block)), parts);
      }
    }
    // The server's end of the COPY follows the trailer; so does its failure.
    while (copy.isActive() && copy.readFromCopy() != null) {}
  }

  /** Closes the socket, by which the read fails. */
  @Override
  public void cancel() {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      throw new IllegalStateException("a connection to PostgreSQL cannot be aborted", e);
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(decoder::close);
    failure.run(transfer::close);
    failure.run(session::close);
    failure.rethrow();
  }
}
