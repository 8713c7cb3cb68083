import Lua
import LuaObservables
import Observables

/// Belongs to the main actor, like the whole app.
final class Letter: ScriptModel {
  static let properties = ModelProperties(for: Letter.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("text", get: { $0.text }, set: { $0.text = $1 })
  }
  static let methods = ModelMethods(for: Letter.self) {
    Method("add") { (letter, words: Variadic<String>) in
      letter.text += words.joined(separator: " ") + "\n"
    }
  }
  let observation = ModelObservation()
  var title = "" { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var text = "" { didSet { observation.didSet(1, from: oldValue, to: text) } }
}

let letter = Letter()
let host = try LuaHost(loop: .main)
host.onError = { report in print("script failed:", report.error.message) }
host["letter"] = letter

// The output of scripts goes to a window of the app.
let tostring: LuaFunction = host["tostring"]!
try host.set("print") { (values: Variadic<LuaValue>) in
  let words = try values.map { try tostring.call($0, as: String.self) }
  print("console:", words.joined(separator: "\t"))
}

// The user's script.
try host.run(
  """
  local obs = require "obs"

  obs.observe(letter, "title", function(letter)
    letter:add("Dear", letter.title .. ",")
    print(letter)
  end)
  obs.observe(letter, "text", function() error("no more ink") end)
  """, name: "=user")

// The app's window, and a file that a task writes: never two at once.
let (saved, saving) = AsyncStream.makeStream(of: String.self)
try letter.observe("title", in: .main) { print("window:", $0.title) }
try letter.observe("text", in: .main) { letter in
  try await Task.sleep(for: .milliseconds(1))
  saving.yield(letter.text)
}

// A click: the app only writes, and the main queue calls the watchers.
letter.title = "Mr. Holmes"
letter.title = "Dr. Watson"
for await text in saved {
  print("saved: \(text)", terminator: "")
  break
}
