"""The command line: the only place that prints. One file per command, loaded when it is called."""
