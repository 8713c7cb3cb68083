import Foundation

// Benchmarks [path of the release build of obs-lua]
// Benchmarks shapes
// Benchmarks objects
// Benchmarks limits
// Benchmarks changes
let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent()
let arguments = CommandLine.arguments.dropFirst()
let interpreter =
  arguments.first.map { URL(fileURLWithPath: $0) }
  ?? package.deletingLastPathComponent().appending(path: ".build-static/release/obs-lua")

var harness = Harness()
if arguments.first == "shapes" {
  try addShapes(to: &harness)
  report(harness.rows)
  exit(0)
}
if arguments.first == "objects" {
  try addHostObjectRows(to: &harness)
  report(harness.rows)
  exit(0)
}
if arguments.first == "limits" {
  try addLimitRows(to: &harness)
  report(harness.rows)
  exit(0)
}
if arguments.first == "changes" {
  try addChangeRows(to: &harness)
  report(harness.rows)
  exit(0)
}
addScaleRows(to: &harness)
try addWriteRows(to: &harness)
try addPathRows(to: &harness)
addFloorRows(to: &harness)
try addCollectionRows(to: &harness)
try addHostObjectRows(to: &harness)
try addLimitRows(to: &harness)
try addChangeRows(to: &harness)
try addShapes(to: &harness)
let scripts = package.appending(path: "lua")
if FileManager.default.isExecutableFile(atPath: interpreter.path),
  FileManager.default.fileExists(atPath: scripts.path)
{
  try addStartRows(to: &harness, interpreter: interpreter)
  try addLuaRows(to: &harness, interpreter: interpreter, scripts: scripts)
} else {
  print("Without the rows in Lua: no release build of obs-lua at \(interpreter.path)")
}
report(harness.rows)

func addShapes(to harness: inout Harness) throws {
  try addShapeRows(to: &harness)
  try addCellxRows(to: &harness)
  try addPropagationRows(to: &harness)
}
