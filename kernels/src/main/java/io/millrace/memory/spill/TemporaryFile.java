// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.HostMemory;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.zip.CRC32C;

/**
 * A file for this process and its user alone, opened with {@link
 * StandardOpenOption#DELETE_ON_CLOSE}. On Linux the JDK unlinks such a file as soon as it is open:
 * it has no name while it is used, and the disk has its space back when the process ends, also by
 * SIGKILL.
 *
 * <p>Thread-safe. Calls wait for the disk and are not interruptible: a thread that is interrupted
 * ends its transfer, which uses its memory, and is still interrupted afterwards. Once the file is
 * closed, transfers throw an {@link IllegalStateException}.
 */
final class TemporaryFile implements AutoCloseable {
  static final int CHUNK_BYTES = 8 << 20;

  private final Path directory;
  private final ExecutorService threads = Executors.newCachedThreadPool(TemporaryFile::thread);
  // A FileChannel is closed for all threads when any thread is interrupted.
  private final AsynchronousFileChannel channel;

  /** Makes an empty file in {@code directory}. */
  TemporaryFile(Path directory) throws IOException {
    this.directory = directory;
    this.channel =
        AsynchronousFileChannel.open(
            directory.resolve("millrace-" + UUID.randomUUID() + ".spill"),
            Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE),
            threads,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "millrace-spill");
    thread.setDaemon(true);
    return thread;
  }

  Path directory() {
    return directory;
  }

  /** The bytes that can still be written to the file's disk. */
  long usableBytes() throws IOException {
    return Files.getFileStore(directory).getUsableSpace();
  }

  /**
   * Writes host memory and adds it to {@code checksum}.
   *
   * @throws IOException if the disk is full or fails; part may be written
   */
  void write(long position, long address, long bytes, CRC32C checksum) throws IOException {
    for (long done = 0; done < bytes; done += CHUNK_BYTES) {
      ByteBuffer chunk = chunk(address + done, bytes - done);
      ByteBuffer summed = chunk.duplicate();
      Future<Integer> write = startWrite(chunk, position + done);
      checksum.update(summed);
      await(write);
      while (chunk.hasRemaining()) {
        await(startWrite(chunk, position + done + chunk.position()));
      }
    }
  }

  /**
   * Reads to host memory and adds the bytes to {@code checksum}.
   *
   * @throws IOException if the disk fails or the file ends before
   */
  void read(long position, long address, long bytes, CRC32C checksum) throws IOException {
    for (long done = 0; done < bytes; done += CHUNK_BYTES) {
      ByteBuffer chunk = chunk(address + done, bytes - done);
      while (chunk.hasRemaining()) {
        long from = position + done + chunk.position();
        if (await(startRead(chunk, from)) < 0) {
          throw new EOFException("the file ends before offset " + from);
        }
      }
      checksum.update(chunk.flip());
    }
  }

  private static ByteBuffer chunk(long address, long bytes) {
    return HostMemory.byteBuffer(address, (int) Math.min(CHUNK_BYTES, bytes));
  }

  private Future<Integer> startWrite(ByteBuffer chunk, long position) {
    try {
      return channel.write(chunk, position);
    } catch (RejectedExecutionException e) {
      throw closed(e);
    }
  }

  private Future<Integer> startRead(ByteBuffer chunk, long position) {
    try {
      return channel.read(chunk, position);
    } catch (RejectedExecutionException e) {
      throw closed(e);
    }
  }

  // The memory is used until the transfer ends, so the wait goes on when the thread is interrupted.
  private static int await(Future<Integer> transfer) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return transfer.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      throw asIoException(e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static IOException asIoException(Throwable cause) {
    if (cause instanceof ClosedChannelException) {
      throw closed(cause);
    }
    return cause instanceof IOException e ? e : new IOException(cause);
  }

  private static IllegalStateException closed(Throwable cause) {
    return new IllegalStateException("the spill file is closed", cause);
  }

  /** Cuts the file off at {@code bytes}, if it is longer. */
  void truncate(long bytes) throws IOException {
    channel.truncate(bytes);
  }

  /** Ends the transfers that run and deletes the file. */
  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      threads.shutdown();
    }
  }
}
