/** Tests of the launcher's job in a process of its own, as its users see it. */
package io.millrace.launcher;
