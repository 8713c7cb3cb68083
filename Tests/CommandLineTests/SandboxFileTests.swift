import Foundation
import Testing

/// S5: a sandbox accepts the files that the program accepts without it, except bytecode.
struct SandboxFileTests {
  /// Files, in the notation of `printf`.
  static let files = [
    #"print(1)"#,
    #"\357\273\277print(1) error("line 1")"#,
    #"#!/usr/bin/env obs-lua\nprint(1) error("line 2")"#,
    #"\357\273\277#!/usr/bin/env obs-lua\nprint(1) error("line 2")"#,
    #"\357\273\277#!/usr/bin/env obs-lua\r\nprint(1)\r\nerror("line 3")\r\n"#,
    #"# only a comment"#,
    #"\357\273\277# only a comment"#,
    #"#\n#print(1)"#,
    #"\357\273print(1)"#,
    #"\357\273\277\357\273\277print(1)"#,
    #"\n#print(1)"#,
    #"\357\273\277"#,
    #"#"#,
    #""#,
    #"print((...))\r\nerror "line 2""#,
    #"print("\344\000")"#,
    #"return = 1"#,
  ]

  @Test(arguments: files)
  func `a sandbox loads the files that the program loads`(file: String) throws {
    for command in ["$L OPTION s.lua 7", "$L OPTION - 7 <s.lua", "LUA_INIT=@s.lua $L OPTION -e ''"]
    {
      let ways = try ["", "--sandbox"].map { option in
        let line = command.replacingOccurrences(of: "OPTION", with: option)
        return try Command("printf '\(file)' >s.lua; \(line)").run()
      }
      #expect(ways[0] == ways[1], "\(command)")
    }
  }

  @Test(arguments: files)
  func `a module in the folder of a sandbox may be any such file`(file: String) throws {
    let outcomes = try ["", "--sandbox=."].map { option in
      try Command(
        """
        printf '\(file)' >m.lua
        LUA_PATH='./?.lua' $L \(option) -e 'print((select(2, pcall(require, "m"))))' 2>&1
        """
      ).run()
    }
    // Only one of them says where it found the module.
    let texts = outcomes.map { outcome in
      outcome.output.replacing(
        /(error loading module 'm' from file '.*?':\s*)?(\/?[^\s:']*\/)?m.lua/, with: "m.lua")
    }
    #expect(texts[0] == texts[1])
  }

  @Test func `a file that cannot be read is reported as without a sandbox`() throws {
    let outcomes = try ["", "--sandbox"].map { option in
      try Command("mkdir folder; $L \(option) none.lua; $L \(option) folder").run()
    }
    #expect(outcomes[0] == outcomes[1])
    #expect(outcomes[1].errors.contains("none.lua: No such file or directory"))
  }

  @Test func `bytecode is refused, with any text before it`() throws {
    let outcome = try Command(
      #"""
      for heading in '' '\357\273\277' '#!x\n' '\357\273\277#!x\n'; do
        printf "$heading" >code; printf '\033LuaT' >>code
        $L --sandbox code; $L --sandbox - <code; cp code m.lua; $L --sandbox=. -l m
      done
      """#
    ).run()
    #expect(outcome.output == "" && outcome.status == 1)
    let refusals = outcome.errors.components(separatedBy: "attempt to load a binary chunk")
    #expect(refusals.count - 1 == 12, "\(outcome)")
  }
}
