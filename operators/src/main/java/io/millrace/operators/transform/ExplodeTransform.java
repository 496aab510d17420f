// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.explode.Explode;
import io.millrace.kernel.explode.ListPositions;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import org.apache.flink.annotation.Internal;

/**
 * {@link Explode} in an operator: the bounds of the lists are copied to the host, which computes
 * the positions of the elements and waits for the device.
 */
@Internal
public final class ExplodeTransform implements TableTransform {
  private final String column;
  private final boolean outer;
  private final DeviceContext context;
  private final HostTransfer transfer;

  private ExplodeTransform(String column, boolean outer, DeviceContext context) {
    this.column = column;
    this.outer = outer;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /**
   * A factory of transforms to tables of {@link Explode#outputSchema}.
   *
   * @param column an ARRAY
   * @param outer whether rows with an empty or null list are kept
   */
  public static Factory factory(String column, boolean outer) {
    return context -> new ExplodeTransform(column, outer, context);
  }

  @Override
  public Table apply(Table input, BatchContext batch) {
    try (Table positions = positions(input.column(column))) {
      return Explode.explode(input, column, outer, positions, context.stream(), context.resource());
    }
  }

  private Table positions(Column lists) {
    try (Table bounds = ListPositions.bounds(lists);
        Table host = transfer.toHost(bounds);
        AccessScope scope = AccessScope.on(context.hostStream());
        RowTableBuilder builder = transfer.tableBuilder(ListPositions.SCHEMA)) {
      return transfer.upload(ListPositions.of(host, outer, scope, builder));
    }
  }

  @Override
  public void close() {
    transfer.close();
  }
}
