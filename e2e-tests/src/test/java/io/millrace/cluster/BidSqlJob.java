// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.cluster.job.BidSql;
import io.millrace.connectors.nexmark.Bid;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A job of SQL statements over generated bids, with Millrace's operators.
 *
 * @param statements the last one starts the job
 */
record BidSqlJob(int bidCount, List<String> statements) {
  /** The job to submit. It asks for no checkpoint while it runs. */
  JobSubmission submission(int parallelism, int bidsPerSecond) {
    List<String> arguments =
        new ArrayList<>(List.of(String.valueOf(bidCount), String.valueOf(bidsPerSecond)));
    arguments.addAll(statements);
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.job.jar")),
        BidSql.class.getName(),
        arguments,
        parallelism,
        Optional.empty(),
        Map.of(
            "execution.checkpointing.interval",
            RowsJob.LONGER_THAN_THE_TEST,
            "millrace.sql",
            "on",
            "table.exec.uid.generation",
            "ALWAYS",
            "table.local-time-zone",
            "UTC"));
  }

  /** All bids. */
  Stream<Bid> bids() {
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    return LongStream.range(0, bidCount)
        .mapToObj(number -> generator.bid(NexmarkGenerator.eventOfBid(number)));
  }
}
