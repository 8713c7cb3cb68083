import LuaObservables
import Observables

final class Track: ObservableModel {
  static let properties = ModelProperties(for: Track.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("seconds", get: { $0.seconds }, set: { $0.seconds = $1 })
  }
  let observation = ModelObservation()
  var title: String { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var seconds: Int { didSet { observation.didSet(1, from: oldValue, to: seconds) } }

  init(_ title: String, _ seconds: Int) { (self.title, self.seconds) = (title, seconds) }
}

let loop = Loop()
let host = try LuaHost(loop: loop)

// A Swift array: observed from Swift by key path, and by its edits.
let tracks = ObservableArray([Track("Intro", 60), Track("Theme", 180)])
try tracks.observe("@sum.seconds") { tracks in
  print("length:", (try? tracks.value(at: "@sum.seconds")) ?? "unknown")
}
try tracks.observe("#0.title") { tracks in print("first:", tracks.first?.title ?? "none") }
try tracks.observeEdits { _, edits in
  for edit in edits {
    switch edit {
    case .insert(let track, let index): print("inserted \(track.title) at \(index)")
    case .remove(let track, let index): print("removed \(track.title) at \(index)")
    case .replace(_, let track, let index): print("\(track.title) is new at \(index)")
    case .move(let track, let from, let index): print("moved \(track.title): \(from) to \(index)")
    }
  }
}
loop.turn {
  tracks.append(Track("Finale", 90))
  tracks.move(from: 2, to: 0)
}

// A dictionary and a set: a key can be watched before it exists, and so can a member.
let settings = ObservableDictionary(["volume": 7])
try settings.observeKeys(["volume", "balance"]) { key, old, new, _ in
  print("\(key):", old ?? "none", "to", new ?? "none")
}
let liked: ObservableSet<String> = []
try liked.observe(Path(liked.key(of: "Theme"))) { liked in
  print("Theme is liked:", liked.contains("Theme"))
}
loop.turn {
  settings["balance"] = 1
  liked.formUnion(["Theme", "Finale"])
}

// A script changes the array, with positions from 1. Watchers on both sides are called.
try host.set("tracks", to: tracks)
try host.run(
  """
  local obs = require "obs"
  obs.observe(tracks, "count", function(tracks) print("Lua counts " .. tracks.count) end)
  tracks[1].title = "Grand finale"
  tracks:remove(2)
  """)
loop.turn { tracks.removeLast() }

// A list of a script, observed from Swift, where positions count from 0.
try host.run("queue = { 'tea', 'coffee' }")
if case .table(let queue) = host["queue"] {
  try host.observeEdits(queue) { _, edits in
    for case .insert(.string(let drink), let index) in edits {
      print("ordered \(drink) at \(index)")
    }
  }
  try host.observe(queue, "@count") { queue in print("waiting:", (try? queue.length) ?? 0) }
}
try host.run("table.insert(queue, 1, 'cocoa')")
host.close()
