"""The command line: thin, it maps errors to messages and exit codes."""
