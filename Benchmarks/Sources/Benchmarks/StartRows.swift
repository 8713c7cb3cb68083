import Foundation

/// The start of the program, compared with the stock interpreter.
func addStartRows(to harness: inout Harness, interpreter: URL) throws {
  let stock = URL(fileURLWithPath: "/usr/bin/lua5.4")
  guard FileManager.default.isExecutableFile(atPath: stock.path) else { return }
  // The two alternate, so that the load of the machine affects both.
  var times: (stock: [Double], ours: [Double]) = ([], [])
  for _ in 0..<25 {
    times.stock.append(try milliseconds(stock))
    times.ours.append(try milliseconds(interpreter))
  }
  let floor = times.stock.sorted()[12]
  harness.add("start of -e \"\"", "lua5.4", floor, unit: "ms")
  harness.add(
    "start of -e \"\"", "obs-lua", times.ours.sorted()[12], unit: "ms", limit: 1.5 * floor + 5,
    "≤ 1.5 × lua5.4 + 5 ms")
}

private func milliseconds(_ program: URL) throws -> Double {
  let process = Process()
  process.executableURL = program
  process.arguments = ["-e", ""]
  let start = Harness.nanoseconds()
  try process.run()
  process.waitUntilExit()
  let end = Harness.nanoseconds()
  check(process.terminationStatus == 0, "\(program.lastPathComponent) failed")
  return (end - start) / 1e6
}
