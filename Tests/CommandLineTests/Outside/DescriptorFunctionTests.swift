import Foundation
import Testing

/// Q2: `obs.on_readable` and `obs.on_writable`.
struct DescriptorFunctionTests {
  private func run(
    _ script: String, options: String = "", input: String = ""
  ) throws -> Command.Outcome {
    try Command(
      """
      cat >f <<'END'
      local obs = require "obs"
      \(script)
      END
      printf '\(input)' | $L \(options) f
      """
    ).run()
  }

  @Test func `lines of an input are read one by one, including buffered ones`() throws {
    let outcome = try run(
      """
      local input
      input = obs.on_readable(io.stdin, function(file)
        local line = file:read()
        print(file == io.stdin, line)
        if not line then input:stop() end
      end)
      print(input.active)
      """, input: "one\\ntwo\\nthree")
    #expect(
      outcome
        == .init(
          output: "true\ntrue\tone\ntrue\ttwo\ntrue\tthree\ntrue\tnil\n", errors: "", status: 0))
  }

  @Test func `a number can name a descriptor, and a turn flushes`() throws {
    let outcome = try run(
      """
      local state = { text = "" }
      obs.observe(state, "text", function(s) print(s.text) end)
      local input
      input = obs.on_readable(0.0, function(descriptor)
        state.text = "reading " .. descriptor
        input:stop()
      end)
      local output
      output = obs.on_writable(1, function(d) state.text = "writing " .. d output:stop() end)
      """, input: "x")
    #expect(
      outcome.output.split(separator: "\n").sorted() == ["reading 0", "writing 1"], "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test func `errors name the expected value`() throws {
    let outcome = try run(
      """
      local closed = io.tmpfile()
      closed:close()
      for _, value in ipairs { "stdin", closed, 77, 1.5, {} } do
        print(select(2, pcall(function() obs.on_readable(value, print) end)))
      end
      print(select(2, pcall(function() obs.on_writable(1) end)))
      """)
    #expect(
      outcome.output == """
        f:5: bad argument #1 to 'on_readable' (file or descriptor expected, got string)
        f:5: bad argument #1 to 'on_readable' (the file is closed)
        f:5: bad argument #1 to 'on_readable' (descriptor 77 is not open)
        f:5: bad argument #1 to 'on_readable' (descriptor expected, got 1.5)
        f:5: bad argument #1 to 'on_readable' (file or descriptor expected, got table)
        f:7: bad argument #2 to 'on_writable' (function expected, got nil)

        """, "\(outcome)")
  }

  // T10
  @Test func `closing a file that a handler waits for is an error`() throws {
    let outcome = try run(
      """
      local pipe = io.popen("sleep 60 & echo $!; exec >&-; wait", "r")
      local process = pipe:read()
      local file = io.open("/dev/zero")
      local handler = obs.on_readable(file, function() file:close() end)
      obs.on_error(function(message, where)
        print(message, where.kind, where.name, where.site, handler.active)
        os.execute("kill " .. process)
      end)
      """)
    #expect(
      outcome.output
        == "its descriptor was closed: stop the handler before you close it\thandler\ton_readable\t"
        + "f:5\tfalse\n", "\(outcome)")
  }

  @Test func `an unrefed handler, or one stopped by its scope, does not keep the program`() throws {
    let outcome = try run(
      """
      obs.on_readable(0, function() print "never" end):unref()
      local scope = obs.scope(function() obs.on_readable(0, function() print "never" end) end)
      scope:stop()
      """)
    #expect(outcome == .init(output: "", errors: "", status: 0))
  }

  // S5
  @Test func `scripts without files have no descriptors`() throws {
    let outcome = try run(
      "print(select(2, pcall(obs.on_readable, 0, print)))", options: "--sandbox")
    #expect(
      outcome.output == "obs.on_readable is not available: the host gives these scripts no files\n",
      "\(outcome)")
  }
}
