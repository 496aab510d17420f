// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import java.util.List;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/** The last operator of an exchange; its name and uid also set the names and uids of the others. */
final class ExchangedStream extends SingleOutputStreamOperator<ColumnBatch> {
  private final List<SingleOutputStreamOperator<ColumnBatch>> partitions;

  /**
   * @param partitions the operators that send, one for each stream
   */
  ExchangedStream(
      List<SingleOutputStreamOperator<ColumnBatch>> partitions,
      SingleOutputStreamOperator<ColumnBatch> joined) {
    super(joined.getExecutionEnvironment(), joined.getTransformation());
    this.partitions = partitions;
  }

  static String partitionName(String name) {
    return name + " partition";
  }

  @Override
  public SingleOutputStreamOperator<ColumnBatch> uid(String uid) {
    for (int i = 0; i < partitions.size(); i++) {
      partitions.get(i).uid(uid + "-partition" + (partitions.size() == 1 ? "" : "-" + (i + 1)));
    }
    return super.uid(uid);
  }

  @Override
  public SingleOutputStreamOperator<ColumnBatch> name(String name) {
    partitions.forEach(partition -> partition.name(partitionName(name)));
    return super.name(name);
  }
}
