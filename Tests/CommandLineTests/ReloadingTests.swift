import Foundation
import Testing

/// `--watch=reload`: modules that are loaded again while the program runs (H5).
struct ReloadingTests {
  private func run(_ lines: String) throws -> Command.Outcome {
    try Command("\(WatchTests.functions)\n\(lines)").run()
  }

  private static let program = """
    cat >rules.lua <<'END'
    local rules = {}
    function rules.move(world) world.x = world.x + 1 end
    return rules
    END
    cat >game.lua <<'END'
    local obs, rules = require "obs", require "rules"
    local world = obs.state("world", { x = 0, steps = 0 })
    local first = ...
    obs.every(0.01, function()
      world.steps = world.steps + 1
      rules.move(world)
    end)
    obs.observe(world, "x", function(world)
      print("drawing " .. (world.x > 1000 and "far" or "near") .. " " .. first)
      io.stdout:flush()
    end)
    END

    """

  // H1, H2
  @Test func `modules and the script change while the program runs`() throws {
    let outcome = try run(
      """
      \(Self.program)
      run --watch=reload game.lua here
      until_lines 1 'drawing near here'
      sed 's/+ 1 end/+ 1000 end/' rules.lua >other; mv other rules.lua
      until_lines 1 'drawing far here'
      sed 's/drawing/painting/' game.lua >other; cat other >game.lua
      until_lines 1 'painting far here'
      echo 'x = =' >rules.lua
      until_lines 1 "'rules' was not loaded again"
      : >rules.lua
      until_lines 1 'returns nothing now'
      printf '%s' 'return { move = function(world) print "stopped" os.exit(7) end }' >rules.lua
      until_lines 1 'stopped'
      until_idle
      finish TERM
      """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    var kinds: [String] = []
    for line in lines where kinds.last != line { kinds.append(line) }
    #expect(
      kinds == [
        "drawing near here", "./lua: 'rules' was loaded again", "drawing far here",
        "./lua: 'game.lua' was loaded again", "painting far here",
        "./lua: 'rules' was not loaded again, its former code goes on: "
          + "./rules.lua:1: unexpected symbol near '='",
        "painting far here",
        "./lua: 'rules' was not loaded again, its former code goes on: the module 'rules' returned "
          + "a table before, and returns nothing now",
        "painting far here", "./lua: 'rules' was loaded again", "stopped", "status 143",
      ], "\(outcome)")
  }

  // H4
  @Test func `copies of functions are named, and other files restart the script`() throws {
    let outcome = try run(
      """
      \(Self.program)
      echo 'return 1' >data.lua
      cat >other.lua <<'END'
      local move = require "rules".move
      return { go = function(world) move(world) end }
      END
      cat >main.lua <<'END'
      local obs = require "obs"
      require "other"
      print("data " .. dofile "data.lua")
      io.stdout:flush()
      obs.every(60, function() end)
      END
      run --watch=reload main.lua
      until_lines 1 'data 1'
      echo >>rules.lua
      until_lines 1 warning
      echo 'return 2' >data.lua
      until_lines 1 'data 2'
      finish TERM
      """)
    #expect(
      outcome.output == """
        data 1
        ./lua: 'rules' was loaded again
        ./lua: warning: the function 'go' of the module 'other' has the old 'move' of 'rules' in \
        its local 'move'
        data 2
        status 143

        """, "\(outcome)")
  }

  // H1
  @Test func `a mistake in a callback, or one that another module mends, does not end the program`()
    throws
  {
    let outcome = try run(
      """
      echo 'return {}' >b.lua
      echo 'return { v = 1, f = function() end }' >a.lua
      cat >main.lua <<'END'
      local obs, a = require "obs", require "a"
      require "b"
      local state = obs.state("s", { n = 0 })
      obs.every(0.01, function()
        a.f()
        state.n = state.n + 1
        print("v" .. a.v)
        io.stdout:flush()
      end)
      END
      run --watch=reload main.lua
      until_lines 2 'v1'
      echo 'return { v = 2, f = function() error "oops" end }' >a.lua
      until_lines 2 'oops'
      echo 'return { v = require "b".v + 1, f = function() end }' >a.lua
      until_lines 1 "'a' was not loaded again"
      echo 'return { v = 2 }' >b.lua
      until_lines 2 'v3'
      finish TERM
      """)
    #expect(outcome.output.contains("'b' was loaded again\n./lua: 'a' was loaded again\n"))
    #expect(outcome.output.hasSuffix("status 143\n"), "\(outcome)")
  }

  @Test func `a script that is busy for ever, or ends before it sees a change, runs again`() throws
  {
    let outcome = try run(
      """
      cat >main.lua <<'END'
      local obs, m = require "obs", require "m"
      print("version " .. m.version)
      io.stdout:flush()
      if m.version == 1 then while true do end end
      if m.version == 2 then os.execute "until [ -e go ]; do sleep 0.01; done" end
      END
      echo 'return { version = 1 }' >m.lua
      run --watch=reload main.lua
      until_lines 1 'version 1'
      echo 'return { version = 2 }' >m.lua
      until_lines 1 'version 2'
      echo 'return { version = 3 }' >m.lua
      : >go
      until_lines 1 'version 3'
      until_idle
      finish TERM
      """)
    let versions = outcome.output.split(separator: "\n").filter { $0.hasPrefix("version") }
    #expect(versions == ["version 1", "version 2", "version 3"], "\(outcome)")
    #expect(outcome.output.hasSuffix("status 143\n"))
  }

  @Test(arguments: [
    ("--watch=now s.lua", "'--watch' is written '--watch[=reload]'"),
    ("--watch=reload --test s.lua", "'--watch=reload' cannot be used with '--test'"),
    ("--watch=reload --sandbox s.lua", "'--watch=reload' cannot be used with '--sandbox'"),
    ("--watch=reload", "'--watch' needs a script, or '--test' with files"),
  ])
  func `misuse is an error`(arguments: String, message: String) throws {
    let outcome = try Command("echo 'print(1)' >s.lua; $L \(arguments)").run()
    #expect(outcome == .init(output: "", errors: "./lua: \(message)\n", status: 2))
  }
}
