// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import io.millrace.jobs.sql.SqlScript.Part;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.table.api.ExplainFormat;
import org.apache.flink.table.api.SqlParserEOFException;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.operations.BeginStatementSetOperation;
import org.apache.flink.table.operations.CreateTableASOperation;
import org.apache.flink.table.operations.EndStatementSetOperation;
import org.apache.flink.table.operations.LoadModuleOperation;
import org.apache.flink.table.operations.ModifyOperation;
import org.apache.flink.table.operations.Operation;
import org.apache.flink.table.operations.QueryOperation;
import org.apache.flink.table.operations.ReplaceTableAsOperation;
import org.apache.flink.table.operations.StatementSetOperation;
import org.apache.flink.table.operations.UnloadModuleOperation;
import org.apache.flink.table.operations.UseOperation;
import org.apache.flink.table.operations.command.AddJarOperation;
import org.apache.flink.table.operations.command.ResetOperation;
import org.apache.flink.table.operations.command.SetOperation;
import org.apache.flink.table.operations.ddl.AlterOperation;
import org.apache.flink.table.operations.ddl.CreateOperation;
import org.apache.flink.table.operations.ddl.DropOperation;

/**
 * Plans the queries of a script. Options, tables, views, functions and other definitions take
 * effect in the session, and in catalogs that the script opens; no query is run.
 */
final class ScriptExplanation {
  /** What became of a statement. */
  enum Outcome {
    /** It was run: an option, or the definition of a table, a view or a function. */
    DEFINED,
    /** It has a plan, and was not run. */
    PLANNED,
    /** Neither, such as SHOW. */
    LEFT_OUT,
    FAILED
  }

  /**
   * A statement and what became of it.
   *
   * @param line of the script, from 1
   * @param nodes of the plan; empty if there is none
   * @param failure why it cannot be planned or run; empty if it can
   */
  record Result(int line, String text, Outcome outcome, List<ExplainedNode> nodes, String failure) {
    boolean isWhollyMillrace() {
      return nodes.stream().allMatch(ExplainedNode::isMillrace);
    }
  }

  private static final Pattern SET_START =
      Pattern.compile("\\bSTATEMENT\\s+SET\\s+BEGIN\\b", Pattern.CASE_INSENSITIVE);

  private final TableEnvironmentInternal session;
  private final Map<String, String> options;
  private final List<Result> results = new ArrayList<>();
  private List<Operation> set;
  private Part setStart;

  private ScriptExplanation(TableEnvironmentInternal session) {
    this.session = session;
    this.options = session.getConfig().getConfiguration().toMap();
  }

  /**
   * The results of a script's statements; a failure does not end the script.
   *
   * @param session gets the definitions of the script
   */
  static List<Result> of(String script, TableEnvironmentInternal session) {
    ScriptExplanation explanation = new ScriptExplanation(session);
    explanation.run(SqlScript.parts(script));
    return explanation.results;
  }

  private void run(List<Part> parts) {
    session.getConfig().set(SqlOptions.MODE, SqlMode.EXPLAIN);
    Part statement = null;
    for (int i = 0; i < parts.size(); i++) {
      statement = statement == null ? parts.get(i) : statement.and(parts.get(i));
      try {
        run(statement, session.getParser().parse(statement.text()).get(0));
        statement = null;
      } catch (RuntimeException e) {
        if (!isOpenSet(statement, e) || i == parts.size() - 1) {
          fail(statement, e);
          statement = null;
        }
      }
    }
    if (set != null) {
      fail(setStart, new TableException("the statement set has no END"));
    }
  }

  // Only statements of a set end with semicolons of their own.
  private static boolean isOpenSet(Part statement, RuntimeException failure) {
    return failure instanceof SqlParserEOFException && SET_START.matcher(statement.text()).find();
  }

  private void fail(Part statement, RuntimeException failure) {
    add(statement, Outcome.FAILED, List.of(), message(failure));
  }

  private void add(Part statement, Outcome outcome, List<ExplainedNode> nodes, String failure) {
    results.add(new Result(statement.line(), statement.text(), outcome, nodes, failure));
  }

  // What is wrong is often said by a cause only.
  private static String message(Throwable failure) {
    StringBuilder message = new StringBuilder();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String text = String.valueOf(cause.getMessage());
      if (message.indexOf(text) < 0) {
        message.append(message.isEmpty() ? "" : "\n").append(text);
      }
    }
    return message.toString();
  }

  private void run(Part statement, Operation operation) {
    if (operation instanceof BeginStatementSetOperation) {
      set = new ArrayList<>();
      setStart = statement;
    } else if (operation instanceof EndStatementSetOperation && set != null) {
      List<Operation> inserts = set;
      set = null;
      explain(setStart, inserts);
    } else if (set != null) {
      set.add(operation);
      setStart = setStart.and(statement);
    } else if (operation instanceof StatementSetOperation statementSet) {
      explain(statement, List.copyOf(statementSet.getOperations()));
    } else if (operation instanceof QueryOperation || operation instanceof ModifyOperation) {
      explain(statement, List.of(operation));
      defineTarget(operation);
    } else {
      define(statement, operation);
    }
  }

  private void explain(Part statement, List<Operation> operations) {
    if (session.getConfig().get(ExecutionOptions.RUNTIME_MODE) == RuntimeExecutionMode.BATCH) {
      throw new TableException("plans of batch mode stay Flink's: expected streaming mode");
    }
    String explanation = session.explainInternal(operations, ExplainFormat.TEXT);
    add(statement, Outcome.PLANNED, ExplainedNode.of(explanation), "");
  }

  // Later statements may read the table.
  private void defineTarget(Operation operation) {
    if (operation instanceof CreateTableASOperation create) {
      session.executeInternal(create.getCreateTableOperation());
    } else if (operation instanceof ReplaceTableAsOperation replace) {
      session.executeInternal(replace.getCreateTableOperation());
    }
  }

  private void define(Part statement, Operation operation) {
    TableConfig config = session.getConfig();
    if (operation instanceof SetOperation option && option.getKey().isPresent()) {
      config.set(option.getKey().get().strip(), option.getValue().orElseThrow().strip());
      config.set(SqlOptions.MODE, SqlMode.EXPLAIN);
    } else if (operation instanceof ResetOperation reset) {
      reset(reset.getKey().map(key -> Set.of(key.strip())), config.getConfiguration());
      config.set(SqlOptions.MODE, SqlMode.EXPLAIN);
    } else if (isDefinition(operation)) {
      session.executeInternal(operation);
    } else {
      add(statement, Outcome.LEFT_OUT, List.of(), "");
      return;
    }
    add(statement, Outcome.DEFINED, List.of(), "");
  }

  private void reset(Optional<Set<String>> keys, Configuration configuration) {
    for (String key : keys.orElseGet(() -> Set.copyOf(configuration.keySet()))) {
      configuration.removeKey(key);
      if (options.containsKey(key)) {
        configuration.setString(key, options.get(key));
      }
    }
  }

  private static boolean isDefinition(Operation operation) {
    return operation instanceof CreateOperation
        || operation instanceof AlterOperation
        || operation instanceof DropOperation
        || operation instanceof UseOperation
        || operation instanceof LoadModuleOperation
        || operation instanceof UnloadModuleOperation
        || operation instanceof AddJarOperation;
  }
}
