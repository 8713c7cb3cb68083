/// Writes each step of an engine as a line of a recording (D1–D4).
///
/// A loop has at most one, which passes its lines to all sinks. Kinds of nodes and receivers spell
/// objects, keys and values. No code of the program is called, except that the contents of Swift
/// objects are read by the getters of their stored properties.
package final class RunRecorder: ObservationCore.EngineRecorder {
  private unowned(unsafe) let engine: Engine
  private var options: RunRecordingOptions
  private var lines: RunLines
  private var sinks: [any RunSink] = []
  private let start: UInt64

  private var names = Names()
  private var turns = Turns()
  /// Observed objects whose contents are not written yet; `writeFresh` writes them.
  private var fresh: Set<NodeRef> = []
  private var watchers: [UInt64: Causes] = [:]
  private var lazies: [UInt64: LazyNotes] = [:]
  private var equalWrites: [EqualWrite: Int] = [:]
  private var lastWrite = 0
  /// The list whose edit is written, and being reported, until `endEdit`.
  private var edited: NodeRef?
  /// The calls under way: the watcher, 0 if it has no line, and the time when the call began.
  private var calls: [(watcher: UInt64, start: UInt64)] = []
  /// A place in a script: the number that its host gave it, and its text, such as "app.lua:3".
  package typealias Place = (host: ObjectIdentifier, number: Int, text: () -> String)
  /// The place that is running now, if a host knows it.
  package var place: (() -> Place?)?
  /// The calls under way, a line for each.
  var callStack: () -> String = { "" }
  private var breaks: [UInt64: Break] = [:]
  /// The work outside of turns.
  var outerOrigin = TurnOrigin.host

  /// The numbers of texts that were defined since the last checkpoint.
  private struct Names {
    var texts: [String: Int] = [:]
    var lastText = 0
    var places: [PlaceKey: Int] = [:]
    /// The places where timers were made.
    var timers: [UInt64: String] = [:]
    /// The place of the timer that ended last: a timer ends before its last turn begins.
    var lastTimer = ""
  }

  /// The writes of an object that are recorded with the calls that led to them.
  private struct Break {
    /// Whether all keys are meant.
    var isForAll = false
    /// Keys, as JSON.
    var keys: Set<[UInt8]> = []
  }

  /// Hosts number their places independently.
  private struct PlaceKey: Hashable {
    let host: ObjectIdentifier
    let number: Int
  }

  private struct Turns {
    /// The number of the turn whose line was written, until its end.
    var current: Int?
    var flush = 0
    /// What began the turn, while its line waits for the place of the first call.
    var pendingOrigin: TurnOrigin?
  }

  /// The writes since the last call of a watcher that lead to its next call.
  private struct Causes {
    /// The numbers of the first `limit` writes.
    var writes: [Int] = []
    /// The count of the other writes.
    var furtherWrites = 0
    static let limit = 20
  }

  /// The latest computation of a lazy property that has a line.
  private struct LazyNotes {
    /// The time when its getter was called.
    var start: UInt64 = 0
    /// The value before the call.
    var old: [UInt8]?
  }

  private struct EqualWrite: Hashable {
    let object: Int
    let key: [UInt8]
    let place: Int
  }

  init(of engine: Engine, _ options: RunRecordingOptions) {
    (self.engine, self.options) = (engine, options)
    (lines, start) = (RunLines(options), monotonicNanoseconds())
    super.init()
  }

  /// Microseconds since the beginning.
  private var time: Int { Int((monotonicNanoseconds() - start) / 1000) }

  // MARK: Sinks

  var isNeeded: Bool { !sinks.isEmpty }

  /// Adds a sink; it begins with everything that is observed now.
  func add(_ sink: any RunSink) {
    passLines()
    sinks.append(sink)
    writeCheckpoint()
  }

  /// Leaves out the values that `other` excludes, from now on and for all sinks.
  ///
  /// All sinks get the same lines.
  func restrict(to other: RunRecordingOptions) {
    options.hiddenKeys.formUnion(other.hiddenKeys)
    let order: [RunRecordingOptions.Values] = [.none, .short, .all]
    options.values = order.first { [options.values, other.values].contains($0) } ?? .none
    lines.restrict(to: options)
  }

  func remove(_ sink: any RunSink) {
    sinks.removeAll { $0 === sink }
  }

  /// Passes the finished lines to the sinks.
  func passLines() {
    if lines.count == 0 { return }
    pass(isCheckpoint: false)
  }

  private func pass(isCheckpoint: Bool) {
    lines.bytes.withUnsafeBytes { bytes in
      for sink in sinks { sink.take(bytes, lines: lines.count, isCheckpoint: isCheckpoint) }
    }
    lines.removeAll()
  }

  /// Writes everything that is observed now, so that a reader needs no earlier line.
  ///
  /// Called between operations.
  func writeCheckpoint() {
    passLines()
    (names.texts, names.places) = ([:], [:])
    lines.begin("checkpoint")
    lines.add(engine.reports.currentTurn)
    lines.add(time)
    lines.end()
    fresh = []
    engine.nodes.forEach { node in
      node.pointee.isRecorded = false
      if !node.isDead { writeObject(node, withContents: true) }
    }
    let known = watchers
    watchers = [:]
    lazies = [:]
    engine.watchers.forEach { watcher in
      if watcher.pointee.root == nil { return }
      if watcher.pointee.traits.contains(.lazy) {
        noteLazy(watcher)
      } else {
        for path in engine.inspection.paths(of: watcher) { writeWatcher(watcher, path) }
        if let causes = known[watcher.pointee.id], watchers[watcher.pointee.id] != nil {
          watchers[watcher.pointee.id] = causes
        }
      }
    }
    pass(isCheckpoint: true)
  }

  // MARK: Spelling

  /// The number of a text, which is defined if it is new.
  ///
  /// Not called while a line is being written.
  private func number(of text: String) -> Int {
    if text.isEmpty { return 0 }
    if let known = names.texts[text] { return known }
    names.lastText += 1
    names.texts[text] = names.lastText
    lines.begin("text")
    lines.add(names.lastText)
    lines.add(text: text)
    lines.end()
    return names.lastText
  }

  private var currentPlace: Int {
    guard let place = place?() else { return 0 }
    let key = PlaceKey(host: place.host, number: place.number)
    if let known = names.places[key] { return known }
    let made = number(of: place.text())
    names.places[key] = made
    return made
  }

  /// The turn and the place that are running now, such as "in turn 6 at app.lua:12".
  var whereabouts: String {
    let turn = turns.current.map { "in turn \($0)" } ?? "in the main chunk"
    return place?().map { "\(turn) at \($0.text())" } ?? turn
  }

  /// The number of an object, whose line is written if it is new.
  private func number(of node: NodeRef) -> Int {
    if !node.pointee.isRecorded {
      writeObject(node, withContents: false)
      fresh.insert(node)
    }
    return Int(node.pointee.number)
  }

  private func writeObject(_ node: NodeRef, withContents: Bool) {
    node.pointee.isRecorded = true
    let name = number(of: node.isDead ? "object" : node.kind.title(of: node))
    var contents = Array("null".utf8)
    if withContents, !node.isDead {
      // Getters of Swift properties run here, so the lines must not be in use.
      var part = RunLines(options)
      contents = part.json { part in
        part.beginList()
        node.kind.recordContents(of: node, in: &part)
        part.endList()
      }
    }
    lines.begin("object")
    lines.add(Int(node.pointee.number))
    lines.add(name)
    lines.add(address: node.isDead ? 0 : node.kind.address(of: node))
    lines.add(json: contents)
    lines.end()
  }

  /// Writes the contents of objects that are new; called between operations.
  private func writeFresh() {
    if fresh.isEmpty { return }
    let nodes = fresh.sorted { $0.pointee.number < $1.pointee.number }
    fresh = []
    for node in nodes where !node.isDead { writeObject(node, withContents: true) }
  }

  private func writeWatcher(_ watcher: WatcherRef, _ path: Path) {
    let receiver = watcher.pointee.receiver.takeUnretainedValue()
    guard let root = watcher.pointee.root, receiver.isPartOfProgram(watcher) else { return }
    let (name, place) = receiver.label(watcher)
    let numbers = (number(of: name), number(of: place ?? ""), number(of: root))
    let text = number(of: path.description)
    if watchers[watcher.pointee.id] == nil { watchers[watcher.pointee.id] = Causes() }
    lines.begin("watcher")
    lines.add(Int(watcher.pointee.id))
    lines.add(numbers.0)
    lines.add(numbers.1)
    lines.add(numbers.2)
    lines.add(text)
    lines.end()
  }

  /// The number of a lazy property, whose line is written if it is new.
  @discardableResult
  private func noteLazy(_ lazy: WatcherRef) -> Int {
    let id = lazy.pointee.id
    if lazies[id] != nil { return Int(id) }
    lazies[id] = LazyNotes()
    let (name, place) = lazy.pointee.receiver.takeUnretainedValue().label(lazy)
    let numbers = (number(of: name), number(of: place ?? ""))
    let object = lazy.slot.map { number(of: $0.pointee.node) } ?? 0
    lines.begin("lazy")
    lines.add(Int(id))
    lines.add(numbers.0)
    lines.add(numbers.1)
    lines.add(object)
    lines.end()
    return Int(id)
  }

  // MARK: Turns

  func turnBegan(_ origin: TurnOrigin) {
    finishTurn()
    if case .timer(let timer) = origin {
      begin(origin, number(of: names.timers[timer] ?? names.lastTimer))
    } else {
      turns.pendingOrigin = origin
    }
  }

  private func begin(_ origin: TurnOrigin, _ place: Int) {
    turns.pendingOrigin = nil
    let number = engine.reports.currentTurn
    (turns.current, turns.flush) = (number, 0)
    lines.begin("turn")
    lines.add(number)
    lines.add(word: origin.word)
    lines.add(place)
    lines.add(time)
    lines.end()
  }

  /// Begins the turn if it has no line yet.
  @inline(__always)
  private func needTurn() {
    if turns.current == nil { begin(turns.pendingOrigin ?? outerOrigin, 0) }
  }

  /// Called before a host calls a callback that was registered at `place`.
  ///
  /// `isExit` is true for callbacks of `on_exit`.
  package func entered(_ place: String, isExit: Bool) {
    if turns.current != nil { return }
    if let origin = turns.pendingOrigin ?? (isExit ? .exit : nil) {
      begin(origin, number(of: place))
    }
  }

  func turnEnded() {
    if let origin = turns.pendingOrigin { begin(origin, 0) }
    finishTurn()
  }

  private func finishTurn() {
    writeFresh()
    writeEqualWrites()
    guard let turn = turns.current else { return }
    turns.current = nil
    lines.begin("end")
    lines.add(turn)
    lines.add(time)
    lines.end()
    passLines()
    for sink in sinks where sink.turnEnded(turn) { writeCheckpoint() }
  }

  // MARK: Writes

  /// Calls its argument for each step of an edit: "insert", "remove" or "replace" with the
  /// position, counted from 1, and the element; or "all" with the new contents.
  package typealias EditSteps = (
    (_ operation: StaticString, _ position: Int, _ value: (inout RunLines) -> Void) -> Void
  ) -> Void

  /// Writes an edit of a list, whose operation reports its changes next, until `endEdit`.
  ///
  /// The steps of the edit have one number.
  package func beginEdit(of node: NodeRef, _ steps: EditSteps) {
    needTurn()
    edited = node
    lastWrite += 1
    let (object, place) = (number(of: node), currentPlace)
    steps { operation, position, value in
      lines.begin("edit")
      lines.add(lastWrite)
      lines.add(object)
      lines.add(word: operation)
      lines.add(position: position)
      lines.add(valueBy: value)
      lines.add(place)
      lines.end()
    }
    if !breaks.isEmpty { noteBreak(node, key: nil) }
    passIfMany()
  }

  package func endEdit() { edited = nil }

  package override func wrote(_ change: ObservationCore.Change) {
    needTurn()
    let node = change.node
    if change.isSame { return count(change) }
    if edited == node { return }
    lastWrite += 1
    let (object, place) = (number(of: node), currentPlace)
    lines.begin("write")
    lines.add(lastWrite)
    lines.add(object)
    node.kind.recordWrite(change, in: &lines)
    lines.add(place)
    lines.end()
    if !breaks.isEmpty { noteBreak(node) { node.kind.recordKey(change, in: &$0) } }
    passIfMany()
  }

  // MARK: Breaks

  /// Records the calls under way at writes of a key from now on, or no longer.
  ///
  /// - Parameter key: the key as JSON; nil for all keys and edits of the object.
  package func setBreak(_ isOn: Bool, on key: String?, of object: UInt64) {
    var made = breaks[object] ?? Break()
    if let key {
      if isOn { made.keys.insert(Array(key.utf8)) } else { made.keys.remove(Array(key.utf8)) }
    } else {
      made.isForAll = isOn
    }
    breaks[object] = made.isForAll || !made.keys.isEmpty ? made : nil
  }

  /// Writes the calls that led to a write; `key` writes the key, and is nil for an edit.
  private func noteBreak(_ node: NodeRef, key: ((inout RunLines) -> Void)?) {
    guard let found = breaks[node.pointee.number] else { return }
    guard found.isForAll || key.map({ found.keys.contains(lines.json($0)) }) == true else { return }
    lines.begin("break")
    lines.add(lastWrite)
    lines.add(text: callStack())
    lines.end()
  }

  private func count(_ change: Change) {
    let place = currentPlace
    let key = lines.json { change.node.kind.recordKey(change, in: &$0) }
    let object = number(of: change.node)
    equalWrites[EqualWrite(object: object, key: key, place: place), default: 0] += 1
  }

  private func writeEqualWrites() {
    if equalWrites.isEmpty { return }
    // Sorted, so that two recordings of one run are the same.
    let sorted = equalWrites.sorted {
      let (a, b) = ($0.key, $1.key)
      if (a.object, a.place) != (b.object, b.place) {
        return (a.object, a.place) < (b.object, b.place)
      }
      return a.key.lexicographicallyPrecedes(b.key)
    }
    equalWrites.removeAll(keepingCapacity: true)
    for (write, count) in sorted {
      lines.begin("equal")
      lines.add(write.object)
      lines.add(json: write.key)
      lines.add(write.place)
      lines.add(count)
      lines.end()
    }
  }

  private func passIfMany() {
    if lines.bytes.count > 1 << 16 { passLines() }
  }

  package override func marked(_ watcher: WatcherRef, by change: ObservationCore.Change) {
    let id = watcher.pointee.id
    guard let index = watchers.index(forKey: id) else { return }
    if watchers.values[index].writes.last == lastWrite { return }
    if watchers.values[index].writes.count < Causes.limit {
      watchers.values[index].writes.append(lastWrite)
    } else {
      watchers.values[index].furtherWrites += 1
    }
  }

  // MARK: Calls

  package override func called(_ watcher: WatcherRef) {
    let id = watcher.pointee.id
    let causes = watchers[id]
    calls.append((causes == nil ? 0 : id, monotonicNanoseconds()))
    guard let causes else { return }
    needTurn()
    if let now = engine.delivery.flushUnderWay, now != turns.flush {
      turns.flush = now
      lines.begin("flush")
      lines.add(now)
      lines.end()
    }
    watchers[id] = Causes()
    lines.begin("call")
    lines.add(Int(id))
    lines.beginList()
    for cause in causes.writes { lines.add(cause) }
    if causes.furtherWrites > 0 { lines.add(-causes.furtherWrites) }
    lines.endList()
    lines.add(time)
    lines.end()
  }

  package override func returned(_ watcher: WatcherRef) {
    guard let call = calls.popLast(), call.watcher != 0 else { return }
    lines.begin("return")
    lines.add(Int(call.watcher))
    lines.add(Int((monotonicNanoseconds() - call.start) / 1000))
    lines.end()
    passIfMany()
  }

  package override func unchanged(_ watcher: WatcherRef) {
    let id = watcher.pointee.id
    guard watchers[id] != nil else { return }
    watchers[id] = Causes()
    lines.begin("unchanged")
    lines.add(Int(id))
    lines.end()
  }

  package override func registered(_ watcher: WatcherRef, _ path: Path) {
    needTurn()
    if watcher.pointee.traits.contains(.lazy) { return }
    writeWatcher(watcher, path)
  }

  package override func ended(_ watcher: WatcherRef) {
    let id = watcher.pointee.id
    lazies[id] = nil
    guard watchers.removeValue(forKey: id) != nil else { return }
    needTurn()
    lines.begin("stop")
    lines.add(Int(id))
    lines.end()
  }

  // MARK: Lazy properties

  package override func invalidated(_ lazy: WatcherRef, by change: ObservationCore.Change) {
    let number = noteLazy(lazy)
    lines.begin("invalid")
    lines.add(number)
    lines.add(lastWrite)
    lines.end()
  }

  package override func replacing(_ lazy: WatcherRef) {
    noteLazy(lazy)
    let isKept = lazy.isKnown && !lazy.pointee.traits.contains(.uncached)
    let old = isKept ? lines.json { addValue(of: lazy, to: &$0) } : nil
    lazies[lazy.pointee.id] = LazyNotes(start: monotonicNanoseconds(), old: old)
  }

  package override func computed(
    _ lazy: WatcherRef, _ computation: ObservationCore.Computation
  ) {
    needTurn()
    let number = noteLazy(lazy)
    guard let known = lazies[lazy.pointee.id] else { return }
    let now = monotonicNanoseconds()
    lines.begin("compute")
    lines.add(number)
    lines.add(known: known.old)
    var flag: StaticString?
    switch computation {
    case .failed:
      lines.addUnknown()
      flag = "failed"
    case .same:
      lines.add(known: known.old)
      flag = "equal"
    default:
      addValue(of: lazy, to: &lines)
    }
    lines.add(Int((now - start) / 1000))
    lines.add(known.start == 0 ? 0 : Int((now - known.start) / 1000))
    if let flag { lines.add(word: flag) }
    lines.end()
    lazies[lazy.pointee.id]?.old = nil
    passIfMany()
  }

  private func addValue(of lazy: WatcherRef, to lines: inout RunLines) {
    lines.beginValues(of: engine.lazies.name(of: lazy))
    lazy.pointee.receiver.takeUnretainedValue().recordValue(of: lazy, in: &lines)
  }

  // MARK: Objects

  override func made(_ node: NodeRef) { fresh.insert(node) }

  override func removed(_ node: NodeRef) {
    fresh.remove(node)
    if edited == node { edited = nil }
    guard node.pointee.isRecorded else { return }
    lines.begin("gone")
    lines.add(Int(node.pointee.number))
    lines.end()
  }

  // MARK: Timers, tasks, errors

  func madeTimer(_ number: UInt64, seconds: Double, repeats: Bool) {
    needTurn()
    let text = place?()?.text() ?? ""
    names.timers[number] = text
    let place = self.number(of: text)
    lines.begin("timer")
    lines.add(Int(number))
    lines.add(number: seconds)
    lines.add(place)
    lines.add(repeats)
    lines.end()
  }

  func endedTimer(_ number: UInt64) {
    guard let place = names.timers.removeValue(forKey: number) else { return }
    names.lastTimer = place
    lines.begin("timerend")
    lines.add(Int(number))
    lines.end()
  }

  package func beganTask(_ number: Int) {
    needTurn()
    let place = currentPlace
    lines.begin("task")
    lines.add(number)
    lines.add(place)
    lines.end()
  }

  package func endedTask(_ number: Int) {
    needTurn()
    lines.begin("taskend")
    lines.add(number)
    lines.end()
  }

  /// Notes an error that no caller catches.
  package func noteError(_ message: String, _ place: String) {
    needTurn()
    let place = number(of: place)
    lines.begin("error")
    lines.add(text: message)
    lines.add(place)
    lines.add(0)
    lines.end()
  }

  // MARK: The end

  /// Called before the loop sleeps.
  func willWait() {
    passLines()
    for sink in sinks { sink.save() }
  }

  /// Ends the recording: the sinks get the last lines.
  func finish(_ sink: any RunSink) {
    finishTurn()
    passLines()
    lines.begin("stopped")
    lines.add(time)
    lines.end()
    lines.bytes.withUnsafeBytes { sink.take($0, lines: 1, isCheckpoint: false) }
    lines.removeAll()
    remove(sink)
  }
}

/// The layout of the lines, for code that compares them.
extension RunRecorder {
  /// The positions of times in lines of each kind.
  static let times: [String: [Int]] = [
    "turn": [4], "end": [2], "checkpoint": [2], "call": [3], "return": [2], "compute": [4, 5],
    "stopped": [1],
  ]

  /// The position of the place in lines of each kind.
  static let places: [String: Int] = [
    "turn": 3, "write": 6, "edit": 6, "equal": 3, "watcher": 3, "lazy": 3, "timer": 3, "task": 2,
    "error": 2,
  ]
}

/// What begins a turn, or work outside of turns.
package enum TurnOrigin {
  /// The host program.
  case host
  case mainChunk
  case prompt
  case timer(UInt64)
  /// A callback of `nextTurn`.
  case next
  /// A message of another thread.
  case message
  case descriptor
  /// An iteration of a library's loop.
  case innerLoop
  /// A request from the page of an inspector.
  case inspector
  /// A function for the end of the program.
  case exit

  /// The word for it in recordings.
  var word: StaticString {
    switch self {
    case .host: "host"
    case .mainChunk: "chunk"
    case .prompt: "prompt"
    case .timer: "timer"
    case .next: "next"
    case .message: "message"
    case .descriptor: "descriptor"
    case .innerLoop: "luv"
    case .inspector: "inspector"
    case .exit: "exit"
    }
  }
}

/// Takes the lines of a recording.
package protocol RunSink: AnyObject {
  /// Takes whole lines: those of one checkpoint, or others.
  func take(_ bytes: UnsafeRawBufferPointer, lines: Int, isCheckpoint: Bool)
  /// Makes the lines readable by others.
  func save()
  /// Called when a turn has ended; returns whether a checkpoint should follow.
  func turnEnded(_ turn: Int) -> Bool
}
