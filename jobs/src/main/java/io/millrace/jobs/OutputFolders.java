// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.connectors.files.InputFiles;
import io.millrace.jobs.EtlOptions.ExistingFiles;
import io.millrace.jobs.EtlOptions.SourceType;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** The folders that a job writes, which are looked at before it starts. */
final class OutputFolders {
  // Files that are not committed have a dot or two before.
  private static final Pattern PART = Pattern.compile("(compacted-)?part-.*");
  private static final Pattern HIDDEN_PART = Pattern.compile("\\.{1,2}" + PART);

  private final EtlPlan plan;
  private final boolean resumed;
  private final ExistingFiles existing;
  private final Map<String, Path> folders = new LinkedHashMap<>();

  private OutputFolders(EtlPlan plan, boolean resumed) {
    this.plan = plan;
    this.resumed = resumed;
    this.existing = plan.configuration().get(EtlOptions.SINK_EXISTING);
    if (plan.writesFiles()) {
      folders.put(EtlOptions.SINK_PATH.key(), path(plan.sinkPath()));
    }
    plan.lateRowsPath().ifPresent(path -> folders.put(EtlWindow.LATE_ROWS.key(), path(path)));
    if (plan.skipsBadRows() && !plan.writesDeadLetters()) {
      folders.put(EtlOptions.BAD_ROWS_PATH.key(), path(plan.badRowsPath()));
    }
  }

  private static Path path(String text) {
    Path path = new Path(text);
    try {
      return path.makeQualified(path.getFileSystem());
    } catch (IOException e) {
      throw new UsageException("cannot write to " + text + ": " + FailureMessage.of(e));
    }
  }

  /**
   * Checks the folders as {@link #check}, deletes their files if they are to be overwritten, and
   * makes those that do not exist.
   *
   * @param resumed whether the job resumes from a savepoint, whose files are there
   * @throws UsageException as {@link #check}, and if one cannot be made or written to
   */
  static void prepare(EtlPlan plan, boolean resumed) {
    OutputFolders outputs = new OutputFolders(plan, resumed);
    outputs.check();
    outputs.folders.forEach(outputs::prepare);
  }

  /**
   * Checks for a job on a cluster that the folders are folders, and have no files yet unless the
   * job resumes or its settings let it add files. Nothing is changed.
   *
   * @throws UsageException naming the option and the folder that is not so, or if the settings ask
   *     for the files to be overwritten
   */
  static void check(EtlPlan plan, boolean resumed) {
    OutputFolders outputs = new OutputFolders(plan, resumed);
    if (outputs.existing == ExistingFiles.OVERWRITE) {
      throw new UsageException(
          EtlOptions.SINK_EXISTING.key()
              + ": a job on a cluster overwrites no files, as its program runs again where a"
              + " JobManager is replaced; delete them before");
    }
    outputs.check();
  }

  private void check() {
    if (resumed && existing == ExistingFiles.OVERWRITE) {
      throw new UsageException(
          "a job that resumes from a savepoint needs the files that it has written: overwrite"
              + " deletes them");
    }
    if (folders.values().stream().distinct().count() < folders.size()) {
      throw new UsageException(
          "expected different folders for " + String.join(" and ", folders.keySet()));
    }
    folders.forEach(this::check);
  }

  private void check(String option, Path folder) {
    checkNotRead(option, folder);
    List<String> files = visibleFiles(option, folder);
    if (files.isEmpty() || resumed || existing == ExistingFiles.APPEND) {
      return;
    }
    if (existing == ExistingFiles.REFUSE) {
      throw new UsageException(
          option
              + ": the folder "
              + folder.getPath()
              + " has files already, such as "
              + files.get(0)
              + "; name another one, or use --append to add files or --overwrite to delete them");
    }
    for (String file : files) {
      if (!PART.matcher(file).matches()) {
        throw new UsageException(
            option
                + ": the folder "
                + folder.getPath()
                + " is not overwritten: no job has written its file "
                + file);
      }
    }
  }

  private void checkNotRead(String option, Path folder) {
    if (plan.sourceType() != SourceType.FILES) {
      return;
    }
    try {
      String path = plan.configuration().get(EtlOptions.SOURCE_PATH);
      for (Path input : InputFiles.resolve(List.of(path))) {
        String qualified = input.makeQualified(input.getFileSystem()).toString();
        if ((qualified + "/").startsWith(folder + "/")) {
          throw new UsageException(option + ": the folder " + path + " is read by the same job");
        }
      }
    } catch (IOException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private static List<String> visibleFiles(String option, Path folder) {
    return files(option, folder).stream()
        .map(file -> file.getPath().getName())
        .filter(name -> !name.startsWith(".") && !name.startsWith("_"))
        .sorted()
        .toList();
  }

  private static List<FileStatus> files(String option, Path folder) {
    try {
      FileSystem fileSystem = folder.getFileSystem();
      if (!fileSystem.getFileStatus(folder).isDir()) {
        throw new UsageException(option + ": " + folder.getPath() + " is a file, not a folder");
      }
      FileStatus[] files = fileSystem.listStatus(folder);
      if (files == null) {
        throw new UsageException(option + ": the folder " + folder.getPath() + " cannot be read");
      }
      return new ArrayList<>(Arrays.asList(files));
    } catch (FileNotFoundException e) {
      return List.of();
    } catch (IOException e) {
      throw new UsageException(
          option + ": cannot look into " + folder.getPath() + ": " + FailureMessage.of(e));
    }
  }

  private void prepare(String option, Path folder) {
    try {
      FileSystem fileSystem = folder.getFileSystem();
      if (existing == ExistingFiles.OVERWRITE) {
        for (FileStatus file : files(option, folder)) {
          String name = file.getPath().getName();
          if (PART.matcher(name).matches() || HIDDEN_PART.matcher(name).matches()) {
            fileSystem.delete(file.getPath(), true);
          }
        }
      }
      boolean isWritable =
          fileSystem.mkdirs(folder)
              && (fileSystem.isDistributedFS()
                  || Files.isWritable(java.nio.file.Path.of(folder.getPath())));
      if (!isWritable) {
        throw new UsageException(option + ": cannot write to the folder " + folder.getPath());
      }
    } catch (IOException e) {
      throw new UsageException(
          option + ": cannot write to " + folder.getPath() + ": " + FailureMessage.of(e));
    }
  }
}
