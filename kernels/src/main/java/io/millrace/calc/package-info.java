/** A filter and projections in one generated kernel, and the same on the host. */
package io.millrace.calc;
