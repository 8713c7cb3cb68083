import LuaObservables
import Observables

/// Belongs to the main actor.
@MainActor final class Lobby {
  private var guests: [String] = []

  func welcome(_ guest: String) async -> String {
    // Other code of the main actor may run while this waits.
    try? await Task.sleep(for: .milliseconds(1))
    guests.append(guest)
    return "\(guest) is guest \(guests.count)"
  }
}

// The program itself does not use `await`: the loop runs on the main thread, and while it waits it
// runs the main queue, and so the code of the main actor.
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

// The loop of the main queue also exists; it accepts the main thread without its queue.
Task { @MainActor in
  Loop.main.after(0) { print("the main queue has a loop, too") }
  try? await Task.sleep(for: .milliseconds(1))
  host.loop.stop()
}
let keeper = host.loop.every(3600) {}
host.loop.run()
keeper.stop()
