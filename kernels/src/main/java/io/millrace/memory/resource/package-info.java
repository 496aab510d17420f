/** Where memory comes from: resources of a device and of the host, and adaptors around them. */
package io.millrace.memory.resource;
