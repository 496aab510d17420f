// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.runtime.partitioner.RebalancePartitioner;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;

/**
 * Sends the rows of one or more streams of batches to the subtasks of what follows.
 *
 * <pre>{@code
 * SingleOutputStreamOperator<ColumnBatch> byAuction =
 *     BatchExchange.keyBy(bids, "auction")
 *         .codec(BodyCodec.ZSTD)
 *         .coalesce(CoalesceOptions.DEFAULT.withDelay(Duration.ofMillis(50)))
 *         .uid("by-auction")
 *         .apply();
 * }</pre>
 *
 * <p>An exchange is two operators; a union has one more for each further stream. The first operator
 * is chained to the last operator of the stream: it cuts each batch on the device, copies the parts
 * to the host and sends them. The second operator is the head of the next chain: it joins the
 * parts, moves them to its device and emits them. Operators read the number of subtasks at run
 * time, so jobs can be rescaled.
 *
 * <p>Rows keep their order within one sender and one receiver; so the rows of one key that one
 * sender sends arrive in order.
 *
 * <p>A row of more than {@link ColumnBatchSerializer#FAST_BYTES} is sent, but slowly. DICTIONARY
 * columns are refused: decode them first.
 */
@PublicEvolving
public final class BatchExchange {
  /** The size limit of parts in bytes, well below the size that Flink sends fast. */
  public static final int PART_BYTES = 4 << 20;

  private final List<DataStream<ColumnBatch>> inputs;
  private final Schema schema;
  private final Routing routing;
  private final List<String> keys;
  private HashFunction keyHash = HashFunction.FLINK_JAVA;
  private boolean perKeyGroup;
  private BodyCodec codec = BodyCodec.RAW;
  private CoalesceOptions coalesce = CoalesceOptions.DEFAULT;
  private int parallelism;
  private String name;
  private String uid;

  private enum Routing {
    BY_KEY,
    ROUND_ROBIN,
    UNION
  }

  private BatchExchange(
      List<DataStream<ColumnBatch>> inputs, Routing routing, List<String> keys, String name) {
    this.inputs = inputs;
    this.schema = ColumnBatchTypeInformation.schemaOf(inputs.get(0).getType());
    this.routing = routing;
    this.keys = keys;
    this.name = name;
    this.parallelism = inputs.get(0).getExecutionEnvironment().getParallelism();
    schema.fields().forEach(BatchExchange::checkSendable);
  }

  private static void checkSendable(Field field) {
    if (hasDictionary(field.type())) {
      throw new IllegalArgumentException(
          "column '" + field.name() + "' is " + field.type() + ": decode it before it is sent");
    }
  }

  private static boolean hasDictionary(DataType type) {
    return type.id() == TypeId.DICTIONARY
        || type.fields().stream().anyMatch(field -> hasDictionary(field.type()));
  }

  /**
   * Sends each row to the subtask that owns the key group of its key: all rows of a key go to one
   * subtask. With {@link HashFunction#FLINK_JAVA}, the default, this is the subtask to which
   * Flink's {@code keyBy} sends a key of the same Java objects: the object that an external row has
   * for the key column or, for several columns, the tuple of these objects. So a stock keyed
   * operator downstream of the exchange receives only rows of its own key groups. A {@code Row} of
   * the values has another hash. The hash of a BINARY value, which Flink refuses as a key, is
   * {@code Arrays.hashCode} of its bytes.
   *
   * @param batches a stream whose type is a {@link ColumnBatchTypeInformation}
   * @param keys names of the columns that make the key, from 1 to 16; no ARRAY or ROW
   * @throws IllegalArgumentException if the stream has another type, there is no key column or more
   *     than 16, or a key column does not exist or is an ARRAY or ROW
   */
  public static BatchExchange keyBy(DataStream<ColumnBatch> batches, String... keys) {
    checkKeys(ColumnBatchTypeInformation.schemaOf(batches.getType()), List.of(keys));
    String name = "KeyBy(" + String.join(", ", keys) + ")";
    return new BatchExchange(List.of(batches), Routing.BY_KEY, List.of(keys), name);
  }

  /**
   * Checks whether columns can be the key of {@link #keyBy}.
   *
   * @param schema of the batches
   * @throws IllegalArgumentException if there is no key column or more than 16, or a key column
   *     does not exist or is an ARRAY or ROW
   */
  public static void checkKeys(Schema schema, List<String> keys) {
    if (keys.isEmpty()) {
      throw new IllegalArgumentException("a key needs a column");
    }
    if (keys.size() > HashPartition.MAX_KEY_COLUMNS) {
      throw new IllegalArgumentException(
          "a key has at most "
              + HashPartition.MAX_KEY_COLUMNS
              + " columns, but this has "
              + keys.size());
    }
    for (String key : keys) {
      DataType type = schema.type(schema.indexOf(key));
      if (!HashFunction.FLINK_JAVA.supports(type)) {
        throw new IllegalArgumentException(
            "column '" + key + "' cannot be a key: expected a scalar type, got " + type);
      }
    }
  }

  private void checkKeyHash() {
    for (String key : keys) {
      DataType type = schema.type(schema.indexOf(key));
      if (!keyHash.supports(type)) {
        throw new IllegalArgumentException(
            keyHash.algorithm() + " does not hash column '" + key + "', which is " + type);
      }
    }
  }

  /**
   * Sends batches to the subtasks round robin. Batches of more than {@link #PART_BYTES} are cut.
   *
   * @param batches a stream whose type is a {@link ColumnBatchTypeInformation}
   * @throws IllegalArgumentException if the stream has another type
   */
  public static BatchExchange roundRobin(DataStream<ColumnBatch> batches) {
    return new BatchExchange(List.of(batches), Routing.ROUND_ROBIN, List.of(), "RoundRobin");
  }

  /**
   * Sends batches of several streams to one stream: to the subtask with the same index if the
   * parallelism is the same, else round robin. The parallelism of the result is the largest of the
   * streams, unless {@link #parallelism} sets another.
   *
   * @param batches at least two streams of {@link ColumnBatchTypeInformation}; a stream may occur
   *     twice
   * @throws IllegalArgumentException if there are fewer streams, or a stream has another type or
   *     other columns than the first
   */
  public static BatchExchange union(List<DataStream<ColumnBatch>> batches) {
    if (batches.size() < 2) {
      throw new IllegalArgumentException("a union needs two streams, but has " + batches.size());
    }
    BatchExchange exchange =
        new BatchExchange(List.copyOf(batches), Routing.UNION, List.of(), "Union");
    for (DataStream<ColumnBatch> stream : batches) {
      Schema other = ColumnBatchTypeInformation.schemaOf(stream.getType());
      if (!other.equals(exchange.schema)) {
        throw new IllegalArgumentException("a union of " + exchange.schema + " and " + other);
      }
    }
    exchange.parallelism =
        batches.stream().mapToInt(DataStream::getParallelism).max().orElseThrow();
    return exchange;
  }

  private void checkKeyed() {
    if (routing != Routing.BY_KEY) {
      throw new IllegalStateException(name + " has no key");
    }
  }

  /**
   * Sets the hash that decides on the key group of a key. {@link HashFunction#FLINK_JAVA}, the
   * default, is the hash of DataStream jobs with keys of one value or tuples; {@link
   * HashFunction#FLINK_BINARY_ROW} is the hash of SQL jobs.
   *
   * @throws IllegalStateException if this is not {@link #keyBy}
   */
  public BatchExchange keyHash(HashFunction newKeyHash) {
    checkKeyed();
    keyHash = Objects.requireNonNull(newKeyHash, "key hash is null");
    return this;
  }

  /**
   * Sends one element per key group instead of one per subtask. Then barriers of unaligned
   * checkpoints may overtake elements, because Flink can redistribute whole elements when it
   * restores with another parallelism. Without this, checkpoints are aligned between the two
   * operators of the exchange, even if the job's checkpoints are unaligned: a checkpoint waits
   * until the receivers have processed the elements in their network buffers. The price is
   * throughput, since there are as many elements as key groups. {@link
   * ExchangeOptions#PER_KEY_GROUP} sets this for all exchanges of a job.
   *
   * @throws IllegalStateException if this is not {@link #keyBy}
   */
  public BatchExchange perKeyGroup() {
    checkKeyed();
    perKeyGroup = true;
    return this;
  }

  /** Sets the compression of batches on the network; {@link BodyCodec#RAW} by default. */
  public BatchExchange codec(BodyCodec newCodec) {
    codec = Objects.requireNonNull(newCodec, "codec is null");
    return this;
  }

  /** Sets how receivers join parts; {@link CoalesceOptions#DEFAULT} by default. */
  public BatchExchange coalesce(CoalesceOptions newOptions) {
    coalesce = Objects.requireNonNull(newOptions, "options are null");
    return this;
  }

  /** Sets the number of receiving subtasks; the environment's parallelism by default. */
  public BatchExchange parallelism(int newParallelism) {
    parallelism = newParallelism;
    return this;
  }

  /** Sets the name of the exchange in the user interface, metrics and logs. */
  public BatchExchange name(String newName) {
    name = Objects.requireNonNull(newName, "name is null");
    return this;
  }

  /**
   * Sets the identifiers of the two operators to {@code uid-partition} and {@code uid}. The first
   * operators of a union get {@code uid-partition-1} and so on.
   */
  public BatchExchange uid(String newUid) {
    uid = Objects.requireNonNull(newUid, "uid is null");
    return this;
  }

  /**
   * Adds the exchange to the job. The result emits batches on the device of its subtask; its {@code
   * uid} and {@code name} apply to all operators of the exchange.
   *
   * @throws IllegalArgumentException if the key hash does not support the type of a key column
   */
  public SingleOutputStreamOperator<ColumnBatch> apply() {
    checkKeyHash();
    ColumnBatchTypeInformation type = new ColumnBatchTypeInformation(schema, codec);
    List<SingleOutputStreamOperator<ColumnBatch>> partitions =
        inputs.stream().map(input -> partition(input, type)).toList();
    SingleOutputStreamOperator<ColumnBatch> joined =
        CoalesceOperator.factory(coalesce)
            .appendTo(sent(partitions), name, type)
            .setParallelism(parallelism);
    SingleOutputStreamOperator<ColumnBatch> exchanged = new ExchangedStream(partitions, joined);
    return uid == null ? exchanged : exchanged.uid(uid);
  }

  private SingleOutputStreamOperator<ColumnBatch> partition(
      DataStream<ColumnBatch> input, ColumnBatchTypeInformation type) {
    return PartitionOperator.factory(splitters())
        .appendTo(input, ExchangedStream.partitionName(name), type)
        .setParallelism(input.getParallelism());
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  private DataStream<ColumnBatch> sent(List<SingleOutputStreamOperator<ColumnBatch>> partitions) {
    SingleOutputStreamOperator<ColumnBatch> first = partitions.get(0);
    return switch (routing) {
      case BY_KEY -> sent(first, new KeyGroupPartitioner(isPerKeyGroup()));
      case ROUND_ROBIN -> sent(first, new RebalancePartitioner<>());
      case UNION -> first.union(partitions.stream().skip(1).toArray(DataStream[]::new));
    };
  }

  private static DataStream<ColumnBatch> sent(
      DataStream<ColumnBatch> partition, StreamPartitioner<ColumnBatch> partitioner) {
    return new DataStream<>(
        partition.getExecutionEnvironment(),
        new PartitionTransformation<>(partition.getTransformation(), partitioner));
  }

  private TableSplitter.Factory splitters() {
    if (routing != Routing.BY_KEY) {
      return (context, target) -> new WholeTableSplitter(context, PART_BYTES, ColumnBatch::new);
    }
    return KeyGroupSplitter.factory(
        keys.stream().map(schema::indexOf).toList(), keyHash, isPerKeyGroup(), PART_BYTES);
  }

  private boolean isPerKeyGroup() {
    return perKeyGroup
        || inputs
            .get(0)
            .getExecutionEnvironment()
            .getConfiguration()
            .get(ExchangeOptions.PER_KEY_GROUP);
  }
}
