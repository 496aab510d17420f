// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql.benchmark;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.util.FileUtils;

/**
 * The bids of {@link ReplayedBids} as lines of JSON in files, so that a benchmark measures how
 * bytes are read. A folder has the bids as often as a job reads them, each time later.
 */
final class BidFiles implements AutoCloseable {
  private static final Duration CHECKPOINTS = Duration.ofMinutes(1);

  private final Path folder;

  /**
   * No files yet.
   *
   * @param parent a folder, best in memory, where a folder of its own is made
   */
  BidFiles(Path parent) throws IOException {
    folder = Files.createTempDirectory(parent, "bids");
  }

  /**
   * Writes the bids, if there is no folder of as many.
   *
   * @param times how often they come
   */
  void write(MiniCluster cluster, int times, int subtasks) throws Exception {
    if (Files.exists(files(times))) {
      return;
    }
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(subtasks);
    // Files appear with checkpoints, the last of which is made when all bids are written.
    environment.enableCheckpointing(CHECKPOINTS.toMillis());
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().set(SqlOptions.MODE, SqlMode.ON);
    tables.executeSql(ReplayedBids.createTable(true, times));
    tables.executeSql(table("files", "millrace-filesystem", times));
    StreamStatementSet statements = tables.createStatementSet();
    statements.addInsertSql("INSERT INTO files SELECT * FROM bid");
    statements.attachAsDataStream();
    cluster.executeJobBlocking(environment.getStreamGraph().getJobGraph());
  }

  /**
   * A statement that creates the table {@code bid}.
   *
   * @param asBatches whether Millrace reads the files, or Flink
   */
  String createTable(boolean asBatches, int times) {
    return table("bid", asBatches ? "millrace-filesystem" : "filesystem", times);
  }

  private String table(String name, String connector, int times) {
    return "CREATE TEMPORARY TABLE %s (%s) WITH ('connector' = '%s', 'path' = '%s', 'format' = 'json')"
        .formatted(name, ReplayedBids.COLUMNS, connector, files(times).toUri());
  }

  private Path files(int times) {
    return folder.resolve(Integer.toString(times));
  }

  @Override
  public void close() throws IOException {
    FileUtils.deleteDirectory(folder.toFile());
  }
}
