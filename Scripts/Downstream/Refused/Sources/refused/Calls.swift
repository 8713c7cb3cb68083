import Lua
import LuaObservables
import ObservableModels

// MARK: Calls of functions that take paths

func observing(_ item: Item, _ name: String, _ loop: Loop) async throws {
  try item.observe(\.name) { _ in }
  try item.observe(\.name, in: loop) { item async in print(item.name) }
  try item.observe(name) { print($0.name) }
  try item.observe("\(name).x", name) { _ in }
  try item.observeImmediately(\.name) { _, _ in }
  try item.observeImmediately(name) { _, _ in }
  for await value in try item.values(\.name) { print(value) }
  for await value in try item.values(name, as: String.self) { print(value) }
  for await value in try item.values("name") { print(value) }
}

func globals(_ host: LuaHost, _ shapes: [any Shape], _ table: LuaTable, _ name: String) throws {
  host["shapes"] = shapes
  let _: (any Shape)? = host["shape"]
  try host.observe(table, name) { _ in }
  try host.observeImmediately(table, name) { _, _ in }
}
