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
  /// Objects that were met, and whose contents are written at the next safe moment.
  private var fresh: Set<NodeRef> = []
  private var watchers: [UInt64: Notes] = [:]
  private var lazies: [UInt64: Computation] = [:]
  private var equalWrites: [EqualWrite: Int] = [:]
  private var lastWrite = 0
  /// The list whose edit is being reported, until `endEdit`, and the steps of the edit.
  private var edited: (node: NodeRef, steps: EditSteps?)?
  /// The calls under way: the watcher, 0 if it has no line, and the time when the call began.
  private var calls: [(watcher: UInt64, start: UInt64)] = []
  /// The places of a program that a host knows, by the host's own numbers for them.
  package typealias Place = (number: Int, text: () -> String)
  /// The place that is running now, if a host knows it.
  package var place: (() -> Place?)?

  /// The numbers of texts that were defined since the last checkpoint.
  private struct Names {
    var texts: [String: Int] = [:]
    var lastText = 0
    /// The numbers of places by the numbers that hosts have for them.
    var places: [Int: Int] = [:]
    /// The places where timers were made.
    var timers: [UInt64: String] = [:]
    /// The place of the timer that ended last: a timer ends before its last turn begins.
    var lastTimer = ""
  }

  private struct Turns {
    /// The turn whose line was written, until its end.
    var current: Turn?
    var flush = 0
    /// The kind of a turn whose line waits for the place of the first call.
    var pendingOrigin: String?
    /// The kind of work outside of turns: the host's, the main chunk's, or the prompt's.
    var outerOrigin = "host"
  }

  /// What is known about a watcher since its last call.
  private struct Notes {
    /// The writes that have led to its next call; of many, the first ones.
    var causes: [Int] = []
    var furtherCauses = 0
    static let limit = 20
  }

  /// A lazy property.
  private struct Computation {
    /// The time when its getter was called.
    var start: UInt64 = 0
    /// The value before the call.
    var old: [UInt8]?
  }

  private struct EqualWrite: Hashable {
    let object: UInt64
    let key: [UInt8]
    let place: Int
  }

  private struct Turn {
    let number: Int
    let time: Int
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

  /// Writes what is observed now to all sinks; called between turns.
  func addCheckpoint() {
    passLines()
    writeCheckpoint()
  }

  /// Records no values from now on that one of the recordings must not have.
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
    lines.bytes.withUnsafeBytes { bytes in
      for sink in sinks { sink.take(bytes, lines: lines.count) }
    }
    lines.removeAll()
  }

  /// Writes everything that is observed now, so that a reader needs no earlier line.
  private func writeCheckpoint() {
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
        if let notes = known[watcher.pointee.id], watchers[watcher.pointee.id] != nil {
          watchers[watcher.pointee.id] = notes
        }
      }
    }
    passLines()
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
    if let known = names.places[place.number] { return known }
    let made = number(of: place.text())
    names.places[place.number] = made
    return made
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
    if watchers[watcher.pointee.id] == nil { watchers[watcher.pointee.id] = Notes() }
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
    lazies[id] = Computation()
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

  /// Called when a turn begins.
  package func turnBegan(_ origin: TurnOrigin) {
    finishTurn()
    if let timer = origin.timer {
      begin(origin.kind, number(of: names.timers[timer] ?? names.lastTimer))
    } else {
      turns.pendingOrigin = origin.kind
    }
  }

  /// The kind of work outside of turns.
  package func setOuterOrigin(_ kind: String) { turns.outerOrigin = kind }

  private func begin(_ kind: String, _ place: Int) {
    turns.pendingOrigin = nil
    let made = Turn(number: engine.reports.currentTurn, time: time)
    (turns.current, turns.flush) = (made, 0)
    lines.begin("turn")
    lines.add(made.number)
    lines.add(text: kind)
    lines.add(place)
    lines.add(made.time)
    lines.end()
  }

  /// Begins the turn if it has no line yet.
  @inline(__always)
  private func needTurn() {
    if turns.current == nil { begin(turns.pendingOrigin ?? turns.outerOrigin, 0) }
  }

  /// Called when a host calls code of the program: a callback of this kind, registered at `place`.
  package func entered(_ kind: String, _ place: String) {
    if turns.current != nil { return }
    if let origin = turns.pendingOrigin {
      begin(origin, number(of: place))
    } else if kind == "exit" {
      begin(kind, number(of: place))
    }
  }

  /// Called when a turn has ended.
  package func turnEnded(_ number: Int) {
    if let kind = turns.pendingOrigin { begin(kind, 0) }
    finishTurn()
  }

  private func finishTurn() {
    writeFresh()
    writeEqualWrites()
    guard let turn = turns.current else { return }
    turns.current = nil
    lines.begin("end")
    lines.add(turn.number)
    lines.add(time)
    lines.end()
    passLines()
    for sink in sinks where sink.wantsCheckpoint(turn.number) { writeCheckpoint() }
  }

  // MARK: Writes

  /// Calls its argument for each step of an edit: "insert", "remove" or "replace" with the
  /// position, counted from 1, and the element; or "all" with the new contents.
  package typealias EditSteps = (
    (_ operation: StaticString, _ position: Int, _ value: (inout RunLines) -> Void) -> Void
  ) -> Void

  /// Called before an operation reports that it has edited a list.
  package func beginEdit(of node: NodeRef, _ steps: @escaping EditSteps) { edited = (node, steps) }

  package func endEdit() { edited = nil }

  package override func wrote(_ change: ObservationCore.Change) {
    needTurn()
    let node = change.node
    if change.isSame { return count(change) }
    if let edited, edited.node == node {
      guard let steps = edited.steps else { return }
      self.edited?.steps = nil
      return write(steps, of: node)
    }
    lastWrite += 1
    let (object, place) = (number(of: node), currentPlace)
    lines.begin("write")
    lines.add(lastWrite)
    lines.add(object)
    node.kind.recordWrite(change, in: &lines)
    lines.add(place)
    lines.end()
    passIfMany()
  }

  /// Writes the steps of an edit, which have one number.
  private func write(_ steps: EditSteps, of node: NodeRef) {
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
    passIfMany()
  }

  private func count(_ change: Change) {
    let place = currentPlace
    let key = lines.json { change.node.kind.recordKey(change, in: &$0) }
    let object = UInt64(number(of: change.node))
    equalWrites[EqualWrite(object: object, key: key, place: place), default: 0] += 1
  }

  private func writeEqualWrites() {
    if equalWrites.isEmpty { return }
    // Sorted, so that two recordings of one run are the same.
    let sorted = equalWrites.sorted {
      ($0.key.object, UInt64($0.key.place)) != ($1.key.object, UInt64($1.key.place))
        ? ($0.key.object, $0.key.place) < ($1.key.object, $1.key.place)
        : $0.key.key.lexicographicallyPrecedes($1.key.key)
    }
    equalWrites.removeAll(keepingCapacity: true)
    for (write, count) in sorted {
      lines.begin("equal")
      lines.add(Int(write.object))
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
    if watchers.values[index].causes.last == lastWrite { return }
    if watchers.values[index].causes.count < Notes.limit {
      watchers.values[index].causes.append(lastWrite)
    } else {
      watchers.values[index].furtherCauses += 1
    }
  }

  // MARK: Calls

  package override func called(_ watcher: WatcherRef) {
    let id = watcher.pointee.id
    let notes = watchers[id]
    calls.append((notes == nil ? 0 : id, monotonicNanoseconds()))
    guard let notes else { return }
    needTurn()
    if let now = engine.delivery.flushUnderWay, now != turns.flush {
      turns.flush = now
      lines.begin("flush")
      lines.add(now)
      lines.end()
    }
    watchers[id] = Notes()
    lines.begin("call")
    lines.add(Int(id))
    lines.beginList()
    for cause in notes.causes { lines.add(cause) }
    if notes.furtherCauses > 0 { lines.add(-notes.furtherCauses) }
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
    watchers[id] = Notes()
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
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    let isKept = lazy.isKnown && !lazy.pointee.traits.contains(.uncached)
    let old = isKept ? lines.json { receiver.recordValue(of: lazy, in: &$0) } : nil
    lazies[lazy.pointee.id] = Computation(start: monotonicNanoseconds(), old: old)
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
    if let old = known.old { lines.add(json: old) } else { lines.addUnknown() }
    var flag: StaticString?
    switch computation {
    case .failed:
      lines.addUnknown()
      flag = "failed"
    case .same:
      if let old = known.old { lines.add(json: old) } else { lines.addUnknown() }
      flag = "equal"
    default:
      lazy.pointee.receiver.takeUnretainedValue().recordValue(of: lazy, in: &lines)
    }
    lines.add(Int((now - start) / 1000))
    lines.add(known.start == 0 ? 0 : Int((now - known.start) / 1000))
    if let flag { lines.add(word: flag) }
    lines.end()
    lazies[lazy.pointee.id]?.old = nil
    passIfMany()
  }

  // MARK: Objects

  /// Called when a node is made.
  override func made(_ node: NodeRef) { fresh.insert(node) }

  /// Called before a node is removed.
  override func removed(_ node: NodeRef) {
    fresh.remove(node)
    if edited?.node == node { edited = nil }
    guard node.pointee.isRecorded else { return }
    lines.begin("gone")
    lines.add(Int(node.pointee.number))
    lines.end()
  }

  // MARK: Timers, tasks, errors

  /// Called when a timer was made.
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
    lines.bytes.withUnsafeBytes { sink.take($0, lines: 1) }
    lines.removeAll()
    remove(sink)
  }
}

/// What begins a turn.
package struct TurnOrigin {
  let kind: String
  /// The number of the timer that begins it.
  let timer: UInt64?

  init(_ kind: String, timer: UInt64? = nil) { (self.kind, self.timer) = (kind, timer) }

  package static var host: TurnOrigin { TurnOrigin("host") }
  /// A request from the page of an inspector.
  package static var inspector: TurnOrigin { TurnOrigin("inspector") }
  static var message: TurnOrigin { TurnOrigin("message") }
  /// A callback of `nextTurn`.
  static var next: TurnOrigin { TurnOrigin("next") }
  static var descriptor: TurnOrigin { TurnOrigin("descriptor") }
  /// An iteration of a library's loop.
  static var innerLoop: TurnOrigin { TurnOrigin("luv") }
}

extension RunRecorder {
  /// The beginning of a checkpoint, which a sink takes separately from other lines.
  package static var checkpoint: String.UTF8View { "[\"checkpoint\"".utf8 }
}

/// Takes the lines of a recording.
package protocol RunSink: AnyObject {
  /// Takes whole lines.
  func take(_ bytes: UnsafeRawBufferPointer, lines: Int)
  /// Makes the lines readable by others.
  func save()
  /// Whether a checkpoint should follow the turn that has just ended.
  func wantsCheckpoint(_ turn: Int) -> Bool
}
