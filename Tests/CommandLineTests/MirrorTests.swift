import Foundation
import Testing

/// A3, A6: programs that share a tree, of which some are killed, or whose network is down.
@Suite struct `Programs with mirrors` {
  /// Starts a server, and ends it with the shell.
  private static func server(_ options: String) -> String {
    """
    redis-server --save '' --appendonly yes --daemonize no --logfile log \(options) &
    trap "kill -9 $!" EXIT
    """
  }

  /// Each program counts to a number, and keeps the numbers of all programs in one list.
  private static let program = """
    local obs = require "obs"
    local name, url, last, journal = arg[1], arg[2], tonumber(arg[3]), arg[4]
    local t = { counts = {}, log = {} }
    local m = obs.mirror(t, "tree", { url = url, journal = journal })

    local function count()
      t.counts[name] = (t.counts[name] or 0) + 1
      t.log[#t.log + 1] = name .. t.counts[name]
    end

    local function wait(condition)
      while not condition() do obs.next_change(m, { "state", "pending", "version" }) end
    end

    """

  private static let folder = """
    cat > common.lua <<'END'
    \(program)
    END
    """

  @Test func `a writer that is killed again and again loses nothing that it has counted`() throws {
    let outcome = try Command(
      """
      \(Self.folder)
      cat common.lua - > writer.lua <<'END'
      local turns = tonumber(arg[5])
      obs.task(function()
        m:synced()
        local timer
        timer = obs.every(0.001, function()
          turns = turns - 1
          -- What the last turns have written was sent or not, and acknowledged or not.
          if turns == 0 then os.execute "kill -9 $PPID" end
          if (t.counts[name] or 0) < last then count() else timer:stop() end
        end)
        wait(function() return t.counts[name] == last and m:synced() end)
        m:stop()
      end)
      END
      cat common.lua - > reader.lua <<'END'
      obs.task(function()
        m:synced()
        print(table.concat(t.log, " "))
        m:stop()
      end)
      END
      \(Self.server("--port 0 --unixsocket ./socket"))
      for turns in 1 2 3 4 5 6 7 8 9 10 11 12 0; do
        $L writer.lua w unix://$PWD/socket 90 journal $turns 2>killed
        echo $?
      done
      $L reader.lua r unix://$PWD/socket 0
      """
    ).run()
    let numbers = (1...90).map { "w\($0)" }.joined(separator: " ")
    #expect(outcome.output == String(repeating: "137\n", count: 12) + "0\n\(numbers)\n")
    #expect(outcome.status == 0)
  }

  @Test(
    .enabled(
      if: mayUnshare("ip link set lo up"),
      "a network of its own needs rights that this user has not, or 'ip'"))
  func `programs whose network is down for ten seconds have the same tree afterwards`() throws {
    let outcome = try Command(
      """
      \(Self.folder)
      cat common.lua - > counter.lua <<'END'
      obs.task(function()
        m:synced()
        while (t.counts[name] or 0) < last do
          count()
          if name == "a" and t.counts.a == 20 then os.execute "ip link set lo down" end
          if name == "a" and t.counts.a == last then
            wait(function() return m.state == "offline" end)
            os.execute "ip link set lo up"
          end
          obs.sleep(0.01)
        end
        wait(function() return t.counts.a == last and t.counts.b == last and m:synced() end)
        print(table.concat(t.log, " "))
        m:stop()
      end)
      END
      cat > programs <<'END'
      ip link set lo up
      \(Self.server("--port 6379"))
      $L counter.lua b redis://127.0.0.1 100 >b &
      b=$!
      $L counter.lua a redis://127.0.0.1 100
      wait $b
      cat b
      END
      L=$L unshare --map-root-user --net sh programs
      """
    ).run()
    #expect(outcome.status == 0)
    let logs = outcome.output.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    try #require(logs.count == 2)
    #expect(logs[0] == logs[1])
    for name in ["a", "b"] {
      #expect(logs[0].filter { $0.hasPrefix(name) } == (1...100).map { "\(name)\($0)" })
    }
  }

  /// Whether the tests may run a command in a network of its own.
  private static func mayUnshare(_ command: String) -> Bool {
    let line = "unshare --map-root-user --net sh -c '\(command)'"
    return (try? Command(line).run().status) == 0
  }
}
