import Glibc

exit(Program.run(argumentCount: Int(CommandLine.argc), arguments: CommandLine.unsafeArgv))
