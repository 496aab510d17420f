/** The fluent API of DataStream jobs. */
package io.millrace.operators.api;
