extension ScriptRecorder.Write: CustomStringConvertible {
  /// "'first' was written at x.lua:3 in turn 2, which changed 'full', 'shout'".
  var description: String {
    let event =
      "'\(key)' was \(isInvalidation ? "invalidated" : "written") at \(site) in turn \(turn)"
    return through.isEmpty ? event : "\(event), which changed \(throughText)"
  }

  /// Why a watcher was not called for it.
  var reasonForSilence: String {
    guard isRecomputed else {
      return "'\(key)' was written at \(site), with the value that it had"
    }
    let event = isInvalidation ? "'\(key)' was invalidated" : "'\(key)' was written"
    let last = through.last ?? (isInvalidation ? key : nil)
    let subject = last.map { "'\($0)'" } ?? "what it watches"
    return "\(subject) was recomputed, with an equal value, after \(event) at \(site)"
  }

  /// Of a long chain only the ends.
  private var throughText: String {
    let names = through.map { "'\($0)'" }
    if names.count <= 8 { return names.joined(separator: ", ") }
    return
      "\(names.prefix(3).joined(separator: ", ")), … \(names.last!) (\(names.count) properties)"
  }
}
