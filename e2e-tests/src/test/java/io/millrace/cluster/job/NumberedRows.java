package io.millrace.cluster.job;

import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/** Numbers each row, partitions the rows by key and writes them to files, exactly once. */
public final class NumberedRows {
  private NumberedRows() {}

  public static void main(String[] arguments) throws Exception {
    long rows = Long.parseLong(arguments[0]);
    double rate = Double.parseDouble(arguments[1]);
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment.enableCheckpointing(3_600_000);
    environment
        .fromSource(
            new DataGeneratorSource<>(
                index -> index,
                rows,
                rate == 0 ? RateLimiterStrategy.noOp() : RateLimiterStrategy.perSecond(rate),
                Types.LONG),
            WatermarkStrategy.noWatermarks(),
            "numbers")
        .uid("n")
        .keyBy(value -> value % 100)
        .map(value -> "row " + value)
        .returns(Types.STRING)
        .uid("m")
        .sinkTo(
            FileSink.forRowFormat(
                    new Path(arguments[2]),
                    new SimpleStringEncoder<String>(StandardCharsets.UTF_8.name()))
                .withBucketAssigner(new BasePathBucketAssigner<>())
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build())
        .uid("s");
    environment.execute("numbered rows");
  }
}
