// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.layout.PatternLayout;

/** Records all that is logged in this process, with stack traces, until it is closed. */
final class LogRecorder implements AutoCloseable {
  private static final String NAME = "recorder";

  private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
  private final LoggerConfig root = context.getConfiguration().getRootLogger();
  private final Level levelBefore = root.getLevel();
  private final RecordingAppender appender = new RecordingAppender(context.getConfiguration());

  private static final class RecordingAppender extends AbstractAppender {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    RecordingAppender(Configuration configuration) {
      super(
          NAME,
          null,
          PatternLayout.newBuilder()
              .withConfiguration(configuration)
              .withPattern("%p %c %m%n%throwable")
              .build(),
          false,
          Property.EMPTY_ARRAY);
    }

    @Override
    public void append(LogEvent event) {
      lines.add(toSerializable(event).toString());
    }
  }

  /** Records what is at least of this level. */
  LogRecorder(Level level) {
    appender.start();
    root.addAppender(appender, level, null);
    root.setLevel(level);
    context.updateLoggers();
  }

  List<String> lines() {
    return appender.lines;
  }

  @Override
  public void close() {
    root.removeAppender(NAME);
    root.setLevel(levelBefore);
    context.updateLoggers();
    appender.stop();
  }
}
