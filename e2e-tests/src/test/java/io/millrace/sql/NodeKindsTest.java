// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.planner.NodeKinds;
import io.millrace.operators.sql.planner.SubstitutionReport;
import io.millrace.operators.sql.planner.node.KeptKinds;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.io.File;
import java.lang.reflect.Modifier;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each kind of node of Flink's streaming plans is replaced under a condition, or has a reason. */
class NodeKindsTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String PREFIX = "StreamPhysical";

  /** The classes of nodes in the planner's jar. */
  private static Set<Class<?>> nodesOfFlink() throws Exception {
    Set<Class<?>> nodes = new HashSet<>();
    String folder = StreamPhysicalRel.class.getPackageName().replace('.', '/') + "/";
    String jar =
        StreamPhysicalRel.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    try (JarFile file = new JarFile(new File(jar))) {
      for (String entry : file.stream().map(Object::toString).toList()) {
        if (entry.startsWith(folder) && entry.endsWith(".class") && !entry.contains("$")) {
          Class<?> type = Class.forName(entry.replace('/', '.').replaceAll("\\.class$", ""));
          if (RelNode.class.isAssignableFrom(type) && !Modifier.isAbstract(type.getModifiers())) {
            nodes.add(type);
          }
        }
      }
    }
    return nodes;
  }

  @Test
  void eachNodeOfFlinkIsMatchedOrHasAReason() throws Exception {
    Set<String> others = new TreeSet<>();
    for (Class<?> node : nodesOfFlink()) {
      if (!NodeKinds.matched().containsValue(node)) {
        others.add(node.getSimpleName().replace(PREFIX, ""));
      }
    }
    assertThat(others).contains("Join", "Match").isEqualTo(KeptKinds.reasons().keySet());
  }

  @Test
  void eachMatcherHasACondition() {
    assertThat(NodeKinds.replaced().keySet()).isEqualTo(NodeKinds.matched().keySet());
  }

  @Test
  void theReportHasTheReasonsOfNodesOfFlink() {
    String query =
        "SELECT a.auction FROM bid AS a JOIN bid AS b ON a.auction = b.bidder AND a.price > b.price";
    assertThat(NexmarkQueries.session(flink, SqlMode.EXPLAIN, Content.BID_ROWS).nodes(query))
        .contains("Join");
    assertThat(SubstitutionReport.text())
        .containsPattern("(?m)^\\d+\\tJoin\\tthere is no operator of joins on batches$")
        .doesNotContain("does not know");
  }
}
