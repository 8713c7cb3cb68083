import Foundation

/// Runs every script of the folder with the interpreter and merges the printed lines.
///
/// A line is `concept: name<TAB>value<TAB>unit<TAB>limit`. The limit is empty for floors and peers,
/// a number in the unit of the value (`200`), or a multiple of another row of the same script
/// (`1.05 * concept: name`).
func addLuaRows(to harness: inout Harness, interpreter: URL, scripts: URL) throws {
  let files = try FileManager.default.contentsOfDirectory(
    at: scripts, includingPropertiesForKeys: nil
  )
  .filter { $0.pathExtension == "lua" }
  .sorted { $0.lastPathComponent < $1.lastPathComponent }
  for file in files {
    let process = Process()
    process.executableURL = interpreter
    process.arguments = [file.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    check(process.terminationStatus == 0, "\(file.lastPathComponent) failed")
    var values: [String: Double] = [:]
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count >= 3, let value = Double(fields[1]) else { continue }
      values[fields[0]] = value
      let parts = fields[0].split(separator: ":", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      harness.add(
        Row(
          concept: "Lua · " + parts[0], name: parts.last!, value: value, unit: fields[2],
          limit: fields.count > 3 ? limit(fields[3], values, fields[2]) : nil))
    }
  }
}

/// The value of a limit, and its text in the report.
private func limit(
  _ text: String, _ values: [String: Double], _ unit: String
) -> (value: Double, text: String)? {
  let text = text.trimmingCharacters(in: .whitespaces)
  if text.isEmpty { return nil }
  if let value = Double(text) { return (value, "≤ \(formatted(value)) \(unit)") }
  let parts = text.split(separator: "*", maxSplits: 1).map {
    $0.trimmingCharacters(in: .whitespaces)
  }
  guard parts.count == 2, let factor = Double(parts[0]), let base = values[parts[1]] else {
    return (-1, "unknown limit '\(text)'")
  }
  return (factor * base, "≤ \(formatted(factor)) × \(parts[1])")
}
