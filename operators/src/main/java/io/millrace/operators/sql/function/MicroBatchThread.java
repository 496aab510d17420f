// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.function;

import io.millrace.expression.error.EvaluationException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.types.Row;

/**
 * Evaluates what waits, batch after batch, in a thread of its own, which also opens and closes the
 * device's context.
 */
final class MicroBatchThread {
  private static final int MAX_ROWS = 65_536;

  private final MicroBatchExpressions expressions;
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private final Thread thread = new Thread(this::run, "millrace micro-batches");
  private volatile boolean isClosed;
  // Why requests get no result once it is closed.
  private volatile Throwable end = new CancellationException("the function is closed");

  private record Request(Row values, CompletableFuture<Object> result) {}

  MicroBatchThread(MicroBatchExpressions expressions) {
    this.expressions = expressions;
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    thread.setDaemon(true);
    thread.start();
  }

  /** Asks for the result of a row. Called by any thread; waits for nothing. */
  void add(Row values, CompletableFuture<Object> result) {
    requests.add(new Request(values, result));
    if (isClosed) {
      cancelAll();
    }
  }

  private void run() {
    List<Request> batch = new ArrayList<>();
    try (MicroBatchCalc calc = new MicroBatchCalc(expressions)) {
      while (!isClosed) {
        batch.add(requests.take());
        requests.drainTo(batch, MAX_ROWS - 1);
        evaluate(batch, calc);
        batch.clear();
      }
    } catch (InterruptedException e) {
      // The function was closed.
    } catch (Throwable e) {
      end = e;
      fail(batch, e);
    } finally {
      isClosed = true;
      cancelAll();
    }
  }

  /** Rows that fail are found by halves, so that they do not fail others. */
  private static void evaluate(List<Request> batch, MicroBatchCalc calc) {
    try {
      complete(batch, calc);
    } catch (EvaluationException e) {
      int half = batch.size() / 2;
      if (half == 0) {
        fail(batch, e);
      } else {
        evaluate(batch.subList(0, half), calc);
        evaluate(batch.subList(half, batch.size()), calc);
      }
    } catch (RuntimeException e) {
      fail(batch, e);
    }
  }

  private static void complete(List<Request> batch, MicroBatchCalc calc) {
    List<Row> results = calc.evaluate(batch.stream().map(Request::values).toList());
    for (int i = 0; i < results.size(); i++) {
      batch.get(i).result().complete(results.get(i).getField(0));
    }
  }

  private static void fail(List<Request> batch, Throwable cause) {
    batch.forEach(request -> request.result().completeExceptionally(cause));
  }

  private void cancelAll() {
    List<Request> left = new ArrayList<>();
    requests.drainTo(left);
    fail(left, end);
  }

  /** Ends the thread, and requests that wait exceptionally. */
  void close() throws InterruptedException {
    isClosed = true;
    thread.interrupt();
    thread.join();
  }
}
