// fleet URL JOURNAL: the part of the fleet that writes.
try Writer(at: CommandLine.arguments[1], journal: CommandLine.arguments[2]).run()
