import Observables

final class Track: ObservableModel {
  static let properties = ModelProperties(for: Track.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
  }
  let observation = ModelObservation()
  var title: String { didSet { observation.didSet(0, from: oldValue, to: title) } }

  init(_ title: String) { self.title = title }
}

final class Player: ObservableModel {
  static let properties = ModelProperties(for: Player.self) {
    Property("track", get: { $0.track }, set: { $0.track = $1 })
    Property("volume", get: { $0.volume }, set: { $0.volume = $1 })
  }
  let observation = ModelObservation()
  var track: Track? { didSet { observation.didSet(0, from: oldValue, to: track) } }
  var volume = 5 { didSet { observation.didSet(1, from: oldValue, to: volume) } }
}

let loop = Loop()
let player = Player()

try player.observe("track.title") { player in
  print("playing", player.track?.title ?? "nothing")
}

loop.turn {
  player.track = Track("So Wat")
  player.track?.title = "So What"
}

let first = player.track
loop.turn { player.track = Track("Blue in Green") }
loop.turn { first?.title = "So What (live)" }

final class Display {
  func show(_ player: Player) {
    print("display: \(player.track?.title ?? "–"), volume \(player.volume)")
  }
}

var display: Display? = Display()
if let display {
  try player.observe("track.title", "volume", options: WatcherOptions(observer: display)) {
    [unowned display] player in display.show(player)
  }
}
loop.turn {
  player.track = Track("All Blues")
  player.volume = 7
}
display = nil
loop.turn { player.volume = 8 }

do {
  try player.observe("track.titel") { _ in }
} catch {
  print(error)
}

loop.after(0.1) { player.track?.title = "All Blues (live)" }
loop.after(0.2) { player.track = nil }
loop.run()
