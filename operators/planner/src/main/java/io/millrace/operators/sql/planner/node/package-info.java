// SPDX-License-Identifier: Apache-2.0
/**
 * What the nodes of all kinds have in common. A kind of node, such as Calc, has a package with four
 * classes, which are found from its line in {@code NodeReplacement}:
 *
 * <ul>
 *   <li>a {@link io.millrace.operators.sql.planner.node.NodeMatcher}, which looks at a node of
 *       Flink's and gives a {@link io.millrace.operators.sql.planner.node.NodeSpec}, or throws the
 *       reason why there is none;
 *   <li>the specification: what the node is to do, in the planner's terms;
 *   <li>a subclass of Flink's physical node that is a {@link
 *       io.millrace.operators.sql.planner.node.MillraceRel}: it has the same traits, changelog mode
 *       and keys, and differs in its name, in what EXPLAIN says and in the node that it is executed
 *       by;
 *   <li>a {@link io.millrace.operators.sql.planner.node.MillraceExecNode}, which adds operators to
 *       the job.
 * </ul>
 *
 * <p>A consumer pulls what it takes: Millrace's nodes ask their inputs for batches ({@link
 * io.millrace.operators.sql.planner.node.BatchExecNode}), Flink's ask for rows. A node makes each
 * form once, so no row lies between two of Millrace's nodes, and a node that both kinds consume
 * works once.
 */
package io.millrace.operators.sql.planner.node;
