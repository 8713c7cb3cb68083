internal import CCommandLine
import LibC

exit(Program.run(argumentCount: Int(ccl_argumentcount()), arguments: ccl_arguments()))
