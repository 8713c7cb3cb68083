import Testing

/// Calls that the system refuses are errors of the script that say so; nothing ends the process.
struct RefusalTests {
  private static let noPipe =
    "the system refused a pipe for the loop: Too many open files (EMFILE)"

  @Test func `without a descriptor for the loop 'require' raises`() throws {
    let outcome = try Command(
      """
      cat >f.lua <<'END'
      print(1)
      print(pcall(require, "obs"))
      local obs = require "obs"
      obs.after(0.01, print)
      END
      # The script itself takes a descriptor, too, while it is loaded.
      ulimit -n 4
      $L f.lua
      """
    ).run()
    #expect(outcome.status == 1)
    #expect(outcome.output == "1\nfalse\t\(Self.noPipe)\n")
    #expect(outcome.errors.contains(": \(Self.noPipe)\n"))
  }

  @Test func `without a descriptor for the loop a sandbox reports it`() throws {
    let outcome = try Command("ulimit -n 4\n$L --sandbox -e 'print(1)'").run()
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.errors.contains(": \(Self.noPipe)\n"))
  }

  /// S1: the preparation of a sandbox does not count as time of its scripts.
  @Test(.enabled(if: !Command.delaysSignals))
  func `a sandbox starts even if its scripts have next to no time`() throws {
    let outcome = try Command("$L --sandbox --turn-time=1ms -e 'while true do end'").run()
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("the turn took longer than its limit (1 ms)"))
  }

  @Test(arguments: [4, 5, 6, 7, 8, 10, 14, 20])
  func `no script ends the process, even with few descriptors`(count: Int) throws {
    let outcome = try Command(
      """
      cat >f.lua <<'END'
      local obs = require "obs"
      obs.after(0.01, print)
      local files = {}
      pcall(function() while true do files[#files + 1] = assert(io.open("/dev/null")) end end)
      for _, file in ipairs(files) do
        local handler
        handler = select(2, pcall(obs.on_readable, file, function() handler:stop() end))
      end
      print(pcall(require, "obs.io"))
      obs.after(0.02, function() os.exit(1) end)
      END
      ulimit -n \(count)
      $L f.lua
      """
    ).run()
    #expect(outcome.status == 1 && !outcome.errors.contains("Fatal error"), "\(outcome)")
  }

  @Test func `more handlers than descriptors are possible`() throws {
    let outcome = try Command(
      """
      cat >f.lua <<'END'
      local obs = require "obs"
      local reads, writes = 0, 0
      for _ = 1, 20 do
        local reader, writer
        reader = obs.on_readable(io.stdin, function() reads = reads + 1 reader:stop() end)
        writer = obs.on_writable(io.stdout, function() writes = writes + 1 writer:stop() end)
      end
      obs.on_exit(function() print(reads, writes) end)
      END
      ulimit -n 8
      ulimit -t 20
      echo text | $L f.lua
      """
    ).run()
    #expect(outcome.output == "20\t20\n", "\(outcome)")
  }

  @Test(
    .enabled(if: !Command.delaysSignals),
    arguments: ["-e 'while true do end'", "--sandbox -e 'while true do end'"])
  func `without a timer, scripts with a time limit do not run`(options: String) throws {
    let outcome = try Command("prlimit --sigpending=0 $L --turn-time=50ms \(options)").run()
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains(
        """
        the system refused the timer that limits the time of the turn: \
        Resource temporarily unavailable (EAGAIN)
        """))
  }

  /// S3, S8: memory for rolling back a transaction is not refused.
  @Test func `changes to a transaction's objects are covered even without free memory`() throws {
    let outcome = try Command(
      """
      cat >f.lua <<'END'
      local obs = require "obs"
      local c, r, big = { v = 1 }, {}, {}
      for i = 1, 3000 do big[i] = 0 end
      local p, hold = { x = c }, {}
      obs.transaction({ r }, function()
        obs.transaction({ p, big }, function()
          p.x = nil
          r.o = p
          while true do hold[#hold + 1] = {} end
        end)
        c.v = 2
        error "fails"
      end)
      hold = nil
      print(c.v)
      local t = {}
      print(obs.transaction({ t }, function() for i = 1, math.huge do t[i] = {} end end))
      print(#t)
      END
      $L --max-memory=6M f.lua
      """
    ).run()
    #expect(outcome.output == "1\nfalse\tnot enough memory\n0\n", "\(outcome)")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
  }

  /// X4: a merge that is stopped at any point is rolled back.
  ///
  /// A plain list is assigned as a whole, and an array edited element by element.
  @Test(
    .enabled(if: !Command.delaysSignals),
    arguments: zip(["{}", "obs.array()"], ["i", "{ a = i }"]))
  func `a stopped merge has changed nothing`(list: String, element: String) throws {
    let outcome = try Command(
      """
      cat >f.lua <<'END'
      local obs = require "obs"
      local list, counts = \(list), { whole = 0, empty = 0, torn = 0 }
      local size, isMerged = 1, false
      local timer
      timer = obs.every(0.001, function()
        if isMerged then
          isMerged = false
          local how = #list == size and "whole" or #list == 0 and "empty" or "torn"
          counts[how] = counts[how] + 1
          size = size + 500
          if counts.whole == 20 then
            timer:stop()
            print(counts.empty > 0, counts.torn)
          end
        elseif #list < size then
          -- A slow machine may stop this, too: the next turn goes on.
          for i = #list + 1, math.min(#list + 500, size) do list[i] = \(element) end
        else
          isMerged = true
          obs.merge(list, {})
        end
      end)
      END
      $L --sandbox --turn-time=10ms --error=continue f.lua
      """
    ).run()
    #expect(outcome.output == "true\t0\n", "\(outcome)")
    #expect(outcome.errors.contains("the turn took longer than its limit"), "\(outcome)")
  }

  /// T10: the overflow is an error of the script that recursed.
  @Test func `a watcher survives a write at the end of the stack`() throws {
    let outcome = try Command(
      """
      $L - <<'END'
      local obs = require "obs"
      local t = { list = { { v = 1 } }, o = { p = 1 } }
      local watchers = {}
      for i, path in ipairs { "list.@sum.v", "o.p", "**" } do
        watchers[i] = obs.observe(t, path, function() end, { immediate = true })
      end
      local depth, first = 0, math.huge
      local function deeper(n)
        depth = n
        if n >= first then t.o, t.list = { p = n }, { { v = n } } end
        return 1 + deeper(n + 1)
      end
      pcall(deeper, 1)
      first = depth - 1000
      print(pcall(deeper, 1) or watchers[1].active, watchers[2].active, watchers[3].active)
      END
      """
    ).run()
    #expect(outcome.output == "true\ttrue\ttrue\n", "\(outcome)")
  }

  /// S8: a transaction whose function uses up all memory is rolled back and ends.
  @Test func `a transaction that uses up the memory ends`() throws {
    let outcome = try Command(
      """
      $L --max-memory=4M - <<'END'
      local obs = require "obs"
      print(pcall(function()
        local set = obs.set_of()
        return obs.transaction({ set }, function()
          for i = 1, math.huge do set:add(i) end
        end)
      end))
      obs.flush()
      print "flushed"
      END
      """
    ).run()
    #expect(outcome.output == "true\tfalse\tnot enough memory\nflushed\n", "\(outcome)")
  }

  /// S3: an operation whose stack cannot grow for lack of memory reports that.
  @Test func `a getter that runs out of memory does not report a stack overflow`() throws {
    let outcome = try Command(
      """
      $L --max-memory=4M - <<'END'
      local obs = require "obs"
      local t, list = {a = 1}, obs.array()
      obs.computed(t, "b", {"a"}, function(self) return self.a end)
      local function later(body)
        local resume = coroutine.wrap(function()
          coroutine.yield()
          return select(2, pcall(body))
        end)
        resume()
        return resume
      end
      local read = later(function() return t.b end)
      local append = later(function() list:append(1) end)
      local hog, n, messages = {}, 0, {"", ""}
      for _, size in ipairs {100000, 1000, 10} do
        pcall(function() while true do n = n + 1 hog[n] = ("x"):rep(size) .. n end end)
      end
      messages[1], messages[2] = read(), append()
      hog = nil
      print(table.unpack(messages))
      END
      """
    ).run()
    #expect(outcome.output.contains("not enough memory"), "\(outcome)")
    #expect(!outcome.output.contains("overflow"), "\(outcome)")
  }
}
