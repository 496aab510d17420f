/** Jobs that hold more than their device's memory. */
package io.millrace.operators.spilling;
