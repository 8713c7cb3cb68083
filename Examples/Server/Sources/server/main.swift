import Foundation
import Observables

/// A value on the loop's thread, for messages that are handled there.
final class Confined<Value>: @unchecked Sendable {
  // Only used on the loop's thread, or while it waits for messages.
  var value: Value?
}

guard CommandLine.arguments.count == 2 else {
  print("usage: server PLUGINS")
  exit(2)
}
let folder = URL(filePath: CommandLine.arguments[1])
let server = Confined<Server>()
let failed = Confined<any Error>()
let thread = LoopThread { loop in
  do { server.value = try Server(folder: folder, loop: loop) } catch { failed.value = error }
}

/// Calls `body` in a turn of the loop, and waits until the turn and its immediate follow-ups have
/// ended.
func turn(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  thread.inbox.post(body)
  thread.inbox.post { Loop.current?.nextTurn { done.signal() } }
  done.wait()
}

turn {}
if let error = failed.value {
  print("server: \(error)")
  exit(1)
}

// This thread only reads commands; a real server would accept connections here.
while let line = readLine() {
  print("> \(line)")
  turn { server.value?.perform(line) }
}
turn {
  server.value?.stop()
  server.value = nil
}
thread.stop()
