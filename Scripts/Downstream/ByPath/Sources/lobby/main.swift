import LuaObservables
import Observables

/// Belongs to the main actor.
@MainActor final class Lobby {
  private var guests: [String] = []

  func welcome(_ guest: String) async -> String {
    // Others of the main actor may run meanwhile.
    try? await Task.sleep(for: .milliseconds(1))
    guests.append(guest)
    return "\(guest) is guest \(guests.count)"
  }
}

// The program has no `await` of its own: the loop has the main thread, and while it waits it lets the
// main queue do what belongs to the main actor.
let lobby = Lobby()
let host = try LuaHost()
try host.set("welcome") { (guest: String) in
  AsyncResult { await lobby.welcome(guest) }
}
try host.run(
  """
  local obs = require "obs"
  local book = { text = "" }

  obs.observe(book, "text", function(book) print(book.text) end)
  obs.task(function()
    book.text = welcome "Ada"
    book.text = welcome "Grace"
  end)
  """, name: "=lobby")
host.loop.run()

// The main queue's own loop exists beside, and knows that this is the main thread but not its queue.
Task { @MainActor in
  Loop.main.after(0) { print("the main queue has a loop, too") }
  try? await Task.sleep(for: .milliseconds(1))
  host.loop.stop()
}
let keeper = host.loop.every(3600) {}
host.loop.run()
keeper.stop()
