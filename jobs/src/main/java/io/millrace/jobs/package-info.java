/** Jobs: wiring and options of operators and connectors, no logic of their own. */
package io.millrace.jobs;
