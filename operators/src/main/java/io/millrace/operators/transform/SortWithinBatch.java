// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.SortKey;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.gather.Gather;
import io.millrace.kernel.sort.RowOrder;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transfer.HostTransfer;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Sorts the rows of each table; rows with equal keys keep their order. The host sorts the key
 * columns, and the device, which is waited for, moves the rows.
 */
@Internal
public final class SortWithinBatch implements TableTransform {
  private final List<SortKey> keys;
  private final DeviceContext context;
  private final HostTransfer transfer;

  private SortWithinBatch(List<SortKey> keys, DeviceContext context) {
    this.keys = keys;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /**
   * A factory of transforms of tables of {@code schema}.
   *
   * @param keys the most significant key first
   * @throws IllegalArgumentException if there is no key, a column does not exist or has no order,
   *     or the tables are of a changelog, in which a retraction must stay behind its row
   */
  public static Factory factory(Schema schema, List<SortKey> keys) {
    if (keys.isEmpty()) {
      throw new IllegalArgumentException("there is nothing to sort by");
    }
    if (RowKindColumn.isIn(schema)) {
      throw new IllegalArgumentException(
          "the rows of a changelog cannot be sorted: changes of a row would come in another order");
    }
    for (SortKey key : keys) {
      if (!RowOrder.supports(schema.type(schema.indexOf(key.column())))) {
        throw new IllegalArgumentException(
            "column '"
                + key.column()
                + "' is "
                + schema.type(schema.indexOf(key.column()))
                + ", which has no order");
      }
    }
    List<SortKey> copy = List.copyOf(keys);
    return context -> new SortWithinBatch(copy, context);
  }

  @Override
  public Table apply(Table input, BatchContext batch) {
    try (Table map = RowMap.upload(transfer, order(input))) {
      return Gather.gather(input, map.column(0), context.stream(), context.resource());
    }
  }

  private int[] order(Table input) {
    List<String> columns = keys.stream().map(SortKey::column).distinct().toList();
    try (Table selected = input.select(columns);
        Table host = transfer.toHost(selected);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      return RowOrder.of(host, keys, scope);
    }
  }

  @Override
  public void close() {
    transfer.close();
  }
}
