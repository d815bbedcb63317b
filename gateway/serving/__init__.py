"""The process that serves: its sockets, its HTTP protocol, its signals and its workers."""
