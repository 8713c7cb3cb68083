import Lua
import LuaObservables
import Observables
import Testing

/// The functions that scripts call.
extension SwiftCollections {
  /// Gives scripts `swift_core`, and `swift_new`, which makes objects that the host bridges.
  func install(in host: LuaHost) throws {
    let state = host.state
    let core = try state.makeTable()

    try core.set(
      "new_item", to: state.function("new_item") { [unowned self] in add(.item(CollectionItem())) })
    try core.set(
      "new_list",
      to: state.function("new_list") {
        [unowned self] (elements: LuaTable, ofNumbers: Bool) -> Int in
        let elements = try self.elements(elements)
        if ofNumbers {
          return add(.list(ListOf(ObservableArray(elements.map { $0 as! Int }))))
        }
        return add(.list(ListOf(ObservableArray(elements.map { $0 as! CollectionItem }))))
      })
    try core.set(
      "read",
      to: state.function("read") { [unowned self] (number: Int, name: String) -> LuaValue in
        try raise(CollectionItem.properties.value(of: name, in: item(number)))
      })
    try core.set(
      "write",
      to: state.function("write") { [unowned self] (number: Int, name: String, value: LuaValue) in
        try write(value, to: name, of: item(number))
      })
    try core.set(
      "value",
      to: state.function("value") {
        [unowned self, unowned state] (root: Int, path: String) -> LuaValue in
        let value = try observed(root).value(at: Path(path))
        guard let values = value as? [Any?] else { return try raise(value) }
        let list = try state.makeTable()
        for (index, value) in values.enumerated() { try list.set(index + 1, to: raise(value)) }
        let table = try state.makeTable()
        try table.set(1, to: "list")
        try table.set(2, to: list)
        return .table(table)
      })
    try host.set(
      "swift_new",
      to: state.function("swift_new") { [unowned self, unowned host] (what: String) -> LuaValue in
        switch what {
        case "item": try host.value(for: makeItem())
        case "items": try host.value(for: ObservableArray<CollectionItem>())
        case "numbers": try host.value(for: ObservableArray<Int>())
        case "items by name": try host.value(for: ObservableDictionary<String, CollectionItem>())
        case "numbers by name": try host.value(for: ObservableDictionary<String, Int>())
        case "set": try host.value(for: ObservableSet<String>())
        default: throw CaseError("there is no \(what)")
        }
      })
    try installChanges(core, state)
    try installWatchers(core, host)
    try host.set("swift_core", to: core)
  }

  private func write(_ value: LuaValue, to name: String, of item: CollectionItem) throws {
    switch (name, value) {
    case ("name", .string(let text)): item.name = text.description
    case ("price", .integer(let price)): item.price = Int(price)
    case ("flag", .boolean(let flag)): item.flag = flag
    case ("items", .nil): item.items = nil
    case ("tags", .nil): item.tags = nil
    case ("items", .table):
      item.items = (try lower(value) as? any CaseList)?.array as? ObservableArray<CollectionItem>
    case ("tags", .table):
      item.tags = (try lower(value) as? any CaseList)?.array as? ObservableArray<Int>
    default: throw CaseError("the cases do not assign \(value) to \(name)")
    }
  }

  private func installChanges(_ core: LuaTable, _ state: LuaState) throws {
    try core.set(
      "size", to: state.function("size") { [unowned self] (list: Int) in try self.list(list).count }
    )
    try core.set(
      "get",
      to: state.function("get") { [unowned self] (list: Int, at: Int) -> LuaValue in
        try raise(self.list(list).get(at))
      })
    try core.set(
      "append",
      to: state.function("append") { [unowned self] (list: Int, value: LuaValue) in
        try self.list(list).append(lower(value))
      })
    try core.set(
      "insert",
      to: state.function("insert") { [unowned self] (list: Int, value: LuaValue, at: Int) in
        try self.list(list).insert(lower(value), at: at)
      })
    try core.set(
      "remove",
      to: state.function("remove") { [unowned self] (list: Int, at: Int) -> LuaValue in
        try raise(self.list(list).remove(at: at))
      })
    try core.set(
      "replace",
      to: state.function("replace") { [unowned self] (list: Int, at: Int, value: LuaValue) in
        try self.list(list).replace(at: at, with: lower(value))
      })
    try core.set(
      "move",
      to: state.function("move") { [unowned self] (list: Int, from: Int, to: Int) in
        try self.list(list).move(from: from, to: to)
      })
    try core.set(
      "swap",
      to: state.function("swap") { [unowned self] (list: Int, a: Int, b: Int) in
        try self.list(list).swap(a, b)
      })
    try core.set(
      "sort",
      to: state.function("sort") { [unowned self] (list: Int, less: LuaFunction) in
        try self.list(list).sort { try less.call(raise($0), raise($1), as: Bool.self) }
      })
    try core.set(
      "reverse",
      to: state.function("reverse") { [unowned self] (list: Int) in try self.list(list).reverse() })
    try core.set(
      "clear",
      to: state.function("clear") { [unowned self] (list: Int) in try self.list(list).clear() })
    try core.set(
      "set",
      to: state.function("set") { [unowned self] (list: Int, elements: LuaTable) in
        try self.list(list).set(self.elements(elements))
      })
  }

  private func installWatchers(_ core: LuaTable, _ host: LuaHost) throws {
    let (state, loop) = (host.state, host.loop)
    try core.set(
      "observe",
      to: state.function("observe") {
        [unowned self, unowned loop]
        (root: Int, paths: LuaTable, isImmediate: Bool, once: Bool, call: LuaFunction) -> Int in
        let paths = try (0..<paths.length).map { try Path(paths.get($0 + 1, as: String.self)) }
        return try add(
          observe(
            observed(root), paths, isImmediate: isImmediate, once: once, in: loop, call))
      })
    try core.set(
      "observe_edits",
      to: state.function("observe_edits") {
        [unowned self, unowned state, unowned loop] (list: Int, call: LuaFunction) -> Int in
        try add(
          self.list(list).observeEdits(in: loop) { [unowned self, unowned state] edits in
            attempt { try call.call(self.table(of: edits, in: state)) }
          })
      })
    try core.set(
      "stop",
      to: state.function("stop") { [unowned self] (root: Int, path: String) -> Int in
        try observed(root).stopObserving(Path(path))
      })
    try core.set(
      "batch",
      to: state.function("batch") { [unowned loop] (body: LuaFunction) in
        try loop.batch { _ = try body.call() }
      })
    try core.set(
      "stop_watcher",
      to: state.function("stop") { [unowned self] (number: Int) in watcher(number).stop() })
    try core.set(
      "pause_watcher",
      to: state.function("pause") { [unowned self] (number: Int) in watcher(number).pause() })
    try core.set(
      "resume_watcher",
      to: state.function("resume") { [unowned self] (number: Int) in watcher(number).resume() })
    try core.set(
      "is_active",
      to: state.function("is_active") { [unowned self] (number: Int) in watcher(number).isActive })
  }

  private func observe(
    _ root: some KeyPathObservable, _ paths: [Path], isImmediate: Bool, once: Bool, in loop: Loop,
    _ call: LuaFunction
  ) throws -> Watcher {
    let options = WatcherOptions(once: once)
    let watcher =
      isImmediate
      ? try root.observeImmediately(paths[0], in: loop, options: options) { [unowned self] _, _ in
        attempt { try call.call() }
      }
      : try root.observe(paths[0], in: loop, options: options) { [unowned self] _ in
        attempt { try call.call() }
      }
    do {
      for path in paths.dropFirst() { try watcher.observe(path) }
    } catch {
      watcher.stop()
      throw error
    }
    return watcher
  }

  /// Runs `body` for a callback of a Swift watcher, which cannot throw.
  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { Issue.record(error) }
  }

  private func table(of edits: [CollectionEdit<Any>], in state: LuaState) throws -> LuaTable {
    let list = try state.makeTable()
    for (index, edit) in edits.enumerated() {
      let table = try state.makeTable()
      switch edit {
      case .insert(let new, let at):
        try fill(table, "insert", at: at, new: new)
      case .remove(let old, let at):
        try fill(table, "remove", at: at, old: old)
      case .replace(let old, let new, let at):
        try fill(table, "replace", at: at, old: old, new: new)
      case .move(_, let from, let at):
        try fill(table, "move", at: at)
        try table.set("from", to: from)
      }
      try list.set(index + 1, to: table)
    }
    return list
  }

  private func fill(
    _ table: LuaTable, _ kind: String, at: Int, old: Any? = nil, new: Any? = nil
  ) throws {
    try table.set("kind", to: kind)
    try table.set("at", to: at)
    try table.set("old", to: raise(old))
    try table.set("new", to: raise(new))
  }
}
