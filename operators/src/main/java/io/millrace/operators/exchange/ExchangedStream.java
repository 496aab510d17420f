package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/** What an exchange gives: its second operator, which the first is named after. */
final class ExchangedStream extends SingleOutputStreamOperator<ColumnBatch> {
  private final SingleOutputStreamOperator<ColumnBatch> partition;

  ExchangedStream(
      SingleOutputStreamOperator<ColumnBatch> partition,
      SingleOutputStreamOperator<ColumnBatch> joined) {
    super(joined.getExecutionEnvironment(), joined.getTransformation());
    this.partition = partition;
  }

  static String partitionName(String name) {
    return name + " partition";
  }

  @Override
  public SingleOutputStreamOperator<ColumnBatch> uid(String uid) {
    partition.uid(uid + "-partition");
    return super.uid(uid);
  }

  @Override
  public SingleOutputStreamOperator<ColumnBatch> name(String name) {
    partition.name(partitionName(name));
    return super.name(name);
  }
}
