internal import CCommandLine
import Glibc

exit(Program.run(argumentCount: Int(ccl_argumentcount()), arguments: ccl_arguments()))
