/// A watcher of the reference.
final class WatcherModel {
  let registration: Registration
  var root: Int { registration.root }
  var isImmediate: Bool { registration.isImmediate }
  var routes: [ModelReference.Route] = []
  /// The computed values that were delivered last.
  var base: [ModelReference.Derived] = []
  var (isActive, isDue, isPaused, isRunning) = (true, false, false, false)
  /// The first undelivered change, in a batch or a pause.
  var saved: ToldChange?
  /// Changes that its own callback has caused.
  var again: [ToldChange?] = []
  var times: Int
  /// For edits: the contents that were delivered last, and the largest number of edits since; nil
  /// if the whole contents are compared.
  var known: ModelReference.Fields = [:]
  var mostEdits: Int? = 0

  let title: String

  init(_ registration: Registration, number: Int) {
    self.registration = registration
    title = "call \(registration.id) (\(number))"
    isDue = registration.isInitial
    times = registration.times
  }

  func delivered(_ place: ModelReference.Derived) -> ModelReference.Derived? {
    base.first { $0.isSamePlace(as: place) }
  }

  /// Values that appeared on its paths without a change count from now on.
  func remember(_ entries: [ModelReference.Derived]) {
    for entry in entries where delivered(entry) == nil { base.append(entry) }
  }
}

/// The change that an immediate watcher receives; `details` is nil if the rules leave it open.
struct ToldChange { let details: Set<String>? }

extension ModelReference {
  struct Change {
    let key: Key
    let old: Value
    let new: Value
    var isSame: Bool { old == new }

    /// The change as delivered; which of a collection's changed keys is delivered is open.
    func told(of kind: ThingKind, isOpen: Bool) -> ToldChange {
      guard !isOpen, case .name(let name) = key, kind == .part else {
        return ToldChange(details: nil)
      }
      return ToldChange(details: ["\(name) \(old)→\(new)"])
    }
  }

  // MARK: Registering

  func observe(_ registration: Registration) {
    count += 1
    let watcher = WatcherModel(registration, number: count)
    watcher.known = things[watcher.root].fields
    for path in registration.paths where !add(path, to: watcher) { return }
    watchers.append(watcher)
    handles[registration.id] = watcher
  }

  /// Returns false if the path is refused: it begins with a position behind the end (C4).
  @discardableResult
  private func add(_ path: String, to watcher: WatcherModel) -> Bool {
    let route = Route(path)
    if case .element(let position)? = route.components.first {
      let elements = things[watcher.root].elements
      guard position < elements.count else {
        say("refused \(path)")
        return false
      }
      route.anchor = elements[position]
    }
    hasWatchedLazies = hasWatchedLazies || Part.lazies.contains { path.contains($0) }
    watcher.remember(walk(watcher.root, route, value).derived)
    watcher.routes.append(route)
    return true
  }

  /// The object that the path follows has left the root.
  private func hasLeft(_ route: Route, _ watcher: WatcherModel) -> Bool {
    route.anchor.map { !things[watcher.root].elements.contains($0) } ?? false
  }

  private func finish(_ watcher: WatcherModel) {
    watcher.isActive = false
    watchers.removeAll { $0 === watcher }
  }

  /// L5: a pending call stays pending while paths remain.
  func stop(_ number: Int, _ path: String) {
    var stopped = 0
    for watcher in watchers where watcher.root == number {
      for route in watcher.routes where route.text == path {
        stopped += 1
        if hasLeft(route, watcher) { watcher.isDue = true }
        if let change = difference(watcher, of: [route], supposed).change {
          if watcher.isImmediate { save(change, of: watcher) } else { watcher.isDue = true }
        }
        watcher.routes.removeAll { $0 === route }
        if watcher.routes.isEmpty { finish(watcher) }
      }
    }
    say("stopped \(stopped)")
  }

  func tell(_ watcher: WatcherModel, _ command: Command) {
    if !watcher.isActive { return }
    switch command {
    case .stop: finish(watcher)
    case .pause: watcher.isPaused = true
    case .resume:
      if !watcher.isPaused { return }
      watcher.isPaused = false
      if !watcher.isImmediate || batchDepth > 0 { return }
      if let change = takeSaved(of: watcher) { call(watcher, change) }
    case .schedule: watcher.isDue = true
    case .run:
      if watcher.isRunning { return }
      deliver(watcher, nil)
      while !watcher.again.isEmpty { call(watcher, watcher.again.removeFirst()) }
    case .observe(let path): add(path, to: watcher)
    }
  }

  // MARK: Notifying

  /// Compares a watcher's computed values with the values delivered last (Z4).
  ///
  /// Returns the difference as a change, and all current values.
  private func difference(
    _ watcher: WatcherModel, of routes: [Route]? = nil, _ value: (Derived) -> Value
  ) -> (change: ToldChange?, now: [Derived]) {
    let now = (routes ?? watcher.routes).flatMap { walk(watcher.root, $0, value).derived }
    var details: Set<String> = []
    for entry in now {
      guard let before = watcher.delivered(entry)?.value, before != entry.value else { continue }
      details.insert("\(entry.name) \(before)→\(entry.value)")
    }
    // An operator reports the write that caused its change.
    let isOpen = !(now + watcher.base).allSatisfy(\.isLazy)
    return (details.isEmpty ? nil : ToldChange(details: isOpen ? nil : details), now)
  }

  /// The changes on a watcher's paths, single keys before `*`, and whether the paths contain
  /// computed values.
  private func heard(
    by watcher: WatcherModel, _ number: Int, _ changes: [Change]
  ) -> (changes: [Change], isDerived: Bool) {
    var (exact, every, derived): ([Change], [Change], [Derived]) = ([], [], [])
    for route in watcher.routes {
      let walk = walk(watcher.root, route) { watcher.delivered($0)?.value ?? supposed($0) }
      for place in walk.stored where place.thing == number {
        if place.key == .every { every += changes }
        exact += changes.filter { $0.key == place.key }
      }
      derived += walk.derived
    }
    // A watcher that is due gets the values of the time of its call.
    if !watcher.isDue { watcher.remember(derived) }
    return (exact + every, !derived.isEmpty)
  }

  private func isChange(_ change: Change, for watcher: WatcherModel) -> Bool {
    guard let comparison = watcher.registration.comparison else { return !change.isSame }
    return !comparison.isSame(change.old.number ?? 0, change.new.number ?? 0)
  }

  /// Stores changes of a thing by `store`, and notifies the watchers: coalesced watchers become
  /// due, immediate ones are called (T9), in order of registration.
  func hear(_ number: Int, _ changes: [Change], _ store: () -> Void) {
    let heard = watchers.map { ($0, self.heard(by: $0, number, changes)) }
    let stale = dependents(on: number, changes)
    store()
    for property in stale { property.isStale = true }
    endAssignments(dependingOn: stale)
    var calls: [(watcher: WatcherModel, change: ToldChange?)] = []
    for (watcher, (hits, isDerived)) in heard {
      let hit = hits.first { isChange($0, for: watcher) }
      if !watcher.isImmediate {
        if hit != nil { watcher.isDue = true }
        continue
      }
      var derived: ToldChange?
      let mayDiffer = isDerived || !hits.isEmpty || changes.isEmpty
      if mayDiffer, !watcher.isPaused, batchDepth == 0 {
        (derived, watcher.base) = difference(watcher, value)
      }
      let change = hit.map { $0.told(of: things[number].kind, isOpen: isStepping) } ?? derived
      if let change { calls.append((watcher, change)) }
    }
    make(calls)
  }

  // MARK: Calling

  /// Makes calls in order.
  ///
  /// Before a newer change, a watcher receives the changes that the lists under way still have for
  /// it.
  private func make(_ calls: [(watcher: WatcherModel, change: ToldChange?)]) {
    if batchDepth > 0 {
      // The lists under way continue after the batch.
      for (watcher, change) in calls { save(change, of: watcher) }
      return
    }
    lists.append(calls)
    let top = lists.count - 1
    while let watcher = lists[top].first?.watcher {
      for index in 0...top {
        guard let place = lists[index].firstIndex(where: { $0.watcher === watcher }) else {
          continue
        }
        let (_, change) = lists[index].remove(at: place)
        if watcher.isPaused { save(change, of: watcher) } else { call(watcher, change) }
      }
    }
    lists.removeLast()
  }

  private func save(_ change: ToldChange?, of watcher: WatcherModel) {
    watcher.saved = watcher.saved ?? change
  }

  /// T9: calls a watcher now, and again after it returned for changes that it caused itself.
  private func call(_ watcher: WatcherModel, _ first: ToldChange?) {
    var change = first
    while watcher.isActive {
      if watcher.isPaused { return save(change, of: watcher) }
      if watcher.isRunning { return watcher.again.append(change) }
      deliver(watcher, change)
      if watcher.again.isEmpty { return }
      change = watcher.again.removeFirst()
    }
  }

  private func deliver(_ watcher: WatcherModel, _ change: ToldChange?) {
    log.append(ModelEvent(text: watcher.title, details: change?.details))
    run(watcher)
  }

  private func run(_ watcher: WatcherModel) {
    watcher.isRunning = true
    if watcher.times > 0 {
      watcher.times -= 1
      for statement in watcher.registration.body { perform(statement) }
    }
    watcher.isRunning = false
    if watcher.registration.isOnce { finish(watcher) }
  }

  /// Takes the undelivered change of an immediate watcher.
  private func takeSaved(of watcher: WatcherModel) -> ToldChange? {
    let change: ToldChange?
    (change, watcher.base) = difference(watcher, value)
    defer { watcher.saved = nil }
    // The order of the two is not checked.
    guard let saved = watcher.saved, let change else { return watcher.saved ?? change }
    guard let first = saved.details, let other = change.details else {
      return ToldChange(details: nil)
    }
    return ToldChange(details: first.union(other))
  }

  func batch(_ body: () -> Void) {
    batchDepth += 1
    body()
    batchDepth -= 1
    if batchDepth > 0 { return }
    let waiting = watchers.filter { $0.isImmediate && !$0.isPaused }
    make(waiting.compactMap { watcher in takeSaved(of: watcher).map { (watcher, $0) } })
  }

  // MARK: Flushing

  /// Calls a watcher in a flush if there is a reason.
  private func settle(_ watcher: WatcherModel) -> Bool {
    if watcher.isPaused { return false }
    if watcher.registration.receivesEdits { return settleEdits(watcher) }
    var change: ToldChange?
    if watcher.routes.contains(where: { hasLeft($0, watcher) }) {
      watcher.isDue = true
      watcher.routes.removeAll { hasLeft($0, watcher) }
    }
    if !watcher.isImmediate { (change, watcher.base) = difference(watcher, value) }
    if !watcher.isDue, change == nil { return false }
    watcher.isDue = false
    if watcher.isImmediate { call(watcher, nil) } else { deliver(watcher, nil) }
    if watcher.routes.isEmpty, watcher.isActive { finish(watcher) }
    return true
  }

  /// C10: edits turn the contents delivered last into the present ones.
  private func settleEdits(_ watcher: WatcherModel) -> Bool {
    let (old, new) = (watcher.known, things[watcher.root].fields)
    if old == new { return false }
    var most = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.count
    if things[watcher.root].kind == .array {
      most = watcher.mostEdits ?? distance(list(of: old), list(of: new))
    }
    (watcher.known, watcher.mostEdits) = (new, 0)
    log.append(ModelEvent(text: "\(watcher.title) \(contents(of: watcher.root))", edits: most))
    run(watcher)
    return true
  }

  private func list(of fields: Fields) -> [Value] {
    (0..<fields.count).map { fields[.slot($0)]! }
  }

  /// The number of single insertions, removals and replacements from `old` to `new`.
  private func distance(_ old: [Value], _ new: [Value]) -> Int {
    var row = Array(0...new.count)
    for i in old.indices {
      var diagonal = row[0]
      row[0] = i + 1
      for j in new.indices {
        let above = row[j + 1]
        row[j + 1] = old[i] == new[j] ? diagonal : 1 + min(diagonal, above, row[j])
        diagonal = above
      }
    }
    return row[new.count]
  }

  /// T3, T4: calls watchers that are due and did not run in this flush, always the earliest
  /// registered one next.
  @discardableResult
  func flush() -> Int {
    var called: [WatcherModel] = []
    while let watcher = watchers.first(where: { watcher in
      !called.contains { $0 === watcher } && settle(watcher)
    }) {
      called.append(watcher)
    }
    return called.count + followTrees()
  }
}
