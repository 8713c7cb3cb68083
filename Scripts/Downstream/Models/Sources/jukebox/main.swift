import Dispatch
import ObservableModels

// The target is built with `.defaultIsolation(MainActor.self)`: by default, all code belongs to the
// main actor, also models.
@ObservableModel final class Song {
  var title: String

  init(_ title: String) { self.title = title }
}

// The class can also declare the main actor, as targets with another default isolation must.
@MainActor @ObservableModel(.observable) final class Player {
  var song: Song?
  var volume = 3

  @Computed("song.title", "volume") var display: String
  private func makeDisplay() -> String { "\(song?.title ?? "-") (\(volume))" }
}

// Any thread may use it.
@ObservableModel(.threadSafe) final class Download {
  var percent = 0
}

// Belongs to the thread that creates it.
@ObservableModel nonisolated final class Parser {
  var line = 0
}

/// Waits until the main queue has done its work so far, which includes the ends of turns that writes
/// have begun.
func turn() async {
  await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
}

let player = Player()
try player.observe("display", in: .main) { print("display: \($0.display)") }
player.observe(#path(\.song?.title), in: .main) { player in
  print("title: \(player.song?.title ?? "none")")
}

player.song = Song("Lullaby")
player.volume = 5
await turn()

player.song?.title = "Lullaby, live"
await turn()

// A write on another thread: the watcher is called on the main thread.
let download = Download()
let (finished, finish) = AsyncStream.makeStream(of: Void.self)
try download.observe("percent", in: .main) { download in
  MainActor.assertIsolated()
  print("download: \(download.percent) %")
  finish.finish()
}
await Task.detached { download.percent = 100 }.value
for await _ in finished {}

// A loop and a model that belong to another thread.
let lines = await Task.detached {
  let loop = Loop()
  let parser = Parser()
  var lines: [Int] = []
  try! parser.observe("line", in: loop) { lines.append($0.line) }
  loop.turn { parser.line = 1 }
  loop.turn { parser.line = 2 }
  return lines
}.value
print("lines: \(lines)")
