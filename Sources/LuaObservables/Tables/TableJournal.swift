internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The changes to the members of one table, for several readers (C10).
///
/// Elements of a list are recorded by position, other members by key. The table's node keeps the
/// values, so that they do not outlive it: they may hold the table. This combines two journals, and
/// has several fields once for each.
final class TableJournal {
  let table: OpaquePointer
  let kind: clua_kind
  private unowned(unsafe) let host: LuaHost
  @exclusivity(unchecked) private(set) var list = Journal<KeptValue>()
  @exclusivity(unchecked) private(set) var keyed = KeyedJournal<KeptKey, KeptValue>()
  /// The length of the list part, according to the entries.
  @exclusivity(unchecked) private(set) var length: Int
  /// The last position in `list` at which the former elements are unknown.
  private var lastGap = -1
  /// The first position in `keyed` after the last gap; only for tables that are not lists.
  private var lastKeyedGap = -1
  /// Whether memory ran out while keeping a value of the current write.
  @exclusivity(unchecked) private var hasLostValue = false
  @exclusivity(unchecked) private var lastKept = 0
  /// The numbers under which values are kept, in order.
  @exclusivity(unchecked) private var kept: [Int] = []
  /// The number of entries above which they are combined.
  private var listLimit = 1024
  private var keyedLimit = 1024
  private let state: LuaState
  private let share: LuaState.Share
  /// Bytes of scripts' memory that the entries take (S3).
  @exclusivity(unchecked) private var charge = 0
  /// Bytes of an entry, or of an element in one.
  private static let entrySize = 64
  /// The positions of readers, with the corresponding positions in both journals.
  @exclusivity(unchecked) private var marks: [Mark] = []

  private struct Mark {
    let position: Int
    let list: Int
    let keyed: Int
    let kept: Int
  }

  init(_ host: LuaHost, of table: OpaquePointer, length: Int) {
    (self.host, self.table, self.length) = (host, table, length)
    state = host.state
    share = state.share
    kind = clua_node_kind(table)
  }

  deinit { state.discharge(charge, from: share) }

  /// Charges growth of the entries to the scripts' memory.
  ///
  /// A recorded write cannot fail; instead, the scripts' next allocation does.
  func account() {
    let bytes = Self.entrySize * (list.size + keyed.count)
    guard abs(bytes - charge) >= 4096 || bytes == 0 else { return }
    state.chargeAfterwards(bytes - charge, to: share)
    charge = bytes
  }

  /// Whether the engine has to abandon its work for the running scripts.
  var isStopping: Bool { state.interrupter.isEngineStopping }

  var isList: Bool { kind == CLUA_KIND_PLAIN || kind == CLUA_KIND_ARRAY }

  // MARK: Positions

  /// The position behind the last entry.
  var end: Int {
    let mark = Mark(
      position: list.end + keyed.end, list: list.end, keyed: keyed.end, kept: lastKept)
    if marks.last?.position != mark.position { marks.append(mark) }
    return mark.position
  }

  /// The positions in both journals for a reader's position.
  func parts(of position: Int) -> (list: Int, keyed: Int) {
    let mark = mark(at: position)
    return (mark.list, mark.keyed)
  }

  private func mark(at position: Int) -> Mark {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].position <= position { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? marks[low - 1] : Mark(position: 0, list: 0, keyed: 0, kept: 0)
  }

  /// Removes entries before `position`, which all readers have passed.
  func trim(before position: Int, _ L: LuaStack) {
    let mark = mark(at: position)
    list.trim(before: mark.list)
    keyed.trim(before: mark.keyed)
    marks.removeAll { $0.position < mark.position }
    let known = kept.prefix { $0 <= mark.kept }.count
    for key in kept[..<known] { forget(key, L) }
    kept.removeFirst(known)
    account()
  }

  private func forget(_ key: Int, _ L: LuaStack) {
    clua_journal_forget(L.pointer, table, lua_Integer(key), lua_Integer(key))
  }

  /// Limits the unread entries; called after each write.
  func limit(_ L: LuaStack) {
    if list.count > listLimit || keyed.count > keyedLimit {
      compact(for: marks.map(\.position), L)
    }
  }

  /// Combines long runs of entries for readers that lag behind.
  func compact(for readers: [Int], _ L: LuaStack) {
    let (count, keyedCount) = (list.count, keyed.count)
    if count > max(listLimit, 4 * length + 1024) {
      let interrupter = state.interrupter
      list.compact(
        for: readers.map { parts(of: $0).list }, current: { keepList(length, L) },
        unless: { interrupter.isStopping })
    }
    // If nothing can be combined, avoid trying again after every write.
    if count > listLimit { listLimit = max(1024, 4 * length + 1024, 2 * list.count) }
    if keyed.count > keyedLimit {
      keyed.compact(for: readers.map { parts(of: $0).keyed }, keyCount: 0)
      keyedLimit = max(1024, 2 * keyed.count)
    }
    // The remaining entries are the contents of the list at the readers' positions.
    if list.count < count || keyed.count < keyedCount { forgetUnused(by: readers, L) }
    let positions = Set(readers)
    marks.removeAll { !positions.contains($0.position) }
  }

  /// Forgets values that only removed entries needed.
  private func forgetUnused(by readers: [Int], _ L: LuaStack) {
    var used: Set<Int> = []
    func use(_ value: KeptValue) {
      switch value {
      case .kept(let key), .element(_, let key): used.insert(key)
      default: break
      }
    }
    for reader in Set(readers) {
      let parts = parts(of: reader)
      list.former(at: parts.list, current: current).forEach(use)
      keyed.forEachMemberChange(since: parts.keyed) { key, value, _ in
        use(key.value)
        use(value)
        return true
      }
    }
    kept.removeAll { key in
      if used.contains(key) { return false }
      forget(key, L)
      return true
    }
  }

  // MARK: Values

  /// Keeps the value at an index. [-0, +0, -]
  func keep(_ index: CInt, _ L: LuaStack) -> KeptValue {
    switch L.type(at: index) {
    case .nil, .none: return .nothing
    case .boolean: return .boolean(L.boolean(at: index))
    case .number:
      return L.integer(at: index).map { .integer($0) } ?? .float(L.number(at: index))
    default:
      L.pushCopy(at: index)
      guard clua_try_journal_keep(L.pointer, table, lua_Integer(lastKept + 1)) == LUA_OK else {
        L.pop()
        hasLostValue = true
        return .nothing
      }
      lastKept += 1
      kept.append(lastKept)
      return .kept(lastKept)
    }
  }

  /// Keeps the value at an index as a key. [-0, +0, -]
  func keepKey(_ index: CInt, _ L: LuaStack) -> KeptKey {
    if let number = L.wholeNumber(at: index) {
      return KeptKey(identity: .integer(Int(number)), value: .integer(number))
    }
    return KeptKey(identity: host.state.operand(at: index, of: L), value: keep(index, L))
  }

  /// Keeps the elements of the list at an index as one value. [-0, +0, -]
  func keepElements(of index: CInt, _ count: Int, _ L: LuaStack) -> [KeptValue] {
    if count == 0 { return [] }
    guard case .kept(let list) = keep(index, L) else {
      return Array(repeating: .nothing, count: count)
    }
    return (1...count).map { .element($0, of: list) }
  }

  /// Keeps the present elements as one value.
  private func keepList(_ count: Int, _ L: LuaStack) -> [KeptValue] {
    if count == 0 { return [] }
    let status = clua_try_journal_keeplist(
      L.pointer, table, lua_Integer(lastKept + 1), lua_Integer(count))
    guard status == LUA_OK else {
      L.pop()
      hasLostValue = true
      return Array(repeating: .nothing, count: count)
    }
    lastKept += 1
    kept.append(lastKept)
    return (1...count).map { .element($0, of: lastKept) }
  }

  /// Pushes a value. [-0, +1, -]
  func push(_ value: KeptValue, to L: LuaStack) {
    switch value {
    case .nothing: L.pushNil()
    case .boolean(let value): L.push(value)
    case .integer(let number): L.push(number)
    case .float(let number): L.push(number)
    case .kept(let key): clua_journal_push(L.pointer, table, lua_Integer(key))
    case .element(let position, let list):
      clua_journal_push(L.pointer, table, lua_Integer(list))
      if L.isTable(at: -1) {
        L.rawGet(index: position, at: -1)
      } else {
        L.pushNil()
      }
      L.remove(-2)
    case .current(let position):
      clua_node_pushtable(L.pointer, table)
      L.push(position)
      if L.isTable(at: -2) {
        L.getOwn(at: -2)
      } else {
        L.pop()
        L.pushNil()
      }
      L.remove(-2)
    }
  }

  /// Whether two values are the same by T5.
  func same(_ a: KeptValue, _ b: KeptValue, _ L: LuaStack) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): return a == b
    case (.nothing, .nothing): return true
    case (.boolean(let a), .boolean(let b)): return a == b
    default:
      push(a, to: L)
      push(b, to: L)
      defer { L.pop(2) }
      return L.areSame(-1, -2)
    }
  }

  /// Gives the elements of two lists numbers: equal numbers if T5 calls the elements the same.
  ///
  /// Nil if memory is short.
  func numbers(
    _ old: [KeptValue], _ new: [KeptValue], _ L: LuaStack
  ) -> (old: [Int], new: [Int])? {
    let height = L.height
    defer { L.height = height }
    do { try state.pushTable(fields: old.count + new.count, to: L) } catch { return nil }
    let reader = Reader(of: self, L)
    var next: lua_Integer = 2
    func number(_ value: KeptValue) -> Int {
      reader.push(value)
      let number = clua_journal_number(L.pointer, height + 1, next)
      if number == next { next += 1 }
      return Int(number)
    }
    return (old.map(number), new.map(number))
  }

  /// Pushes kept values one by one, and leaves the list that it reads on the stack.
  final class Reader {
    private let journal: TableJournal
    private let L: LuaStack
    /// The index of the table; above it is a kept list, whose number is `list`.
    private let table: CInt
    private var list = 0

    /// Uses two places of the stack. [-0, +2, -]
    init(of journal: TableJournal, _ L: LuaStack) {
      (self.journal, self.L) = (journal, L)
      clua_node_pushtable(L.pointer, journal.table)
      table = L.height
      L.pushNil()
    }

    /// Pushes a value. [-0, +1, -]
    func push(_ value: KeptValue) {
      switch value {
      case .element(let position, let other):
        if list != other {
          journal.push(.kept(other), to: L)
          L.copy(from: -1, to: table + 1)
          L.pop()
          list = other
        }
        if L.isTable(at: table + 1) {
          L.rawGet(index: position, at: table + 1)
        } else {
          L.pushNil()
        }
      case .current(let position) where L.isTable(at: table):
        L.push(position)
        L.getOwn(at: table)
      default: journal.push(value, to: L)
      }
    }
  }

  /// The present elements; valid until the next write.
  func current() -> LazyMapCollection<Range<Int>, KeptValue> {
    (0..<length).lazy.map { .current($0 + 1) }
  }

  // MARK: Recording

  func record(_ edit: CollectionEdit<KeptValue>) {
    switch edit {
    case .insert: length += 1
    case .remove: length -= 1
    default: break
    }
    list.record(edit)
  }

  func recordWhole(_ old: [KeptValue], isPermutation: Bool, length now: Int) {
    list.rearranged(from: old, isPermutation: isPermutation)
    length = now
  }

  /// Notes an unreported change of the list.
  func recordGap(length now: Int) {
    lastGap = list.end
    recordWhole(Array(repeating: .nothing, count: length), isPermutation: false, length: now)
  }

  /// Notes a gap if memory ran out while keeping a value.
  func noteGapForLostValue() {
    guard hasLostValue else { return }
    hasLostValue = false
    if isList { recordGap(length: length) } else { lastKeyedGap = keyed.end }
  }

  /// Notes a write that is not recorded.
  func noteGap(length now: Int) {
    if isList { recordGap(length: now) } else { lastKeyedGap = keyed.end + 1 }
  }

  /// Whether the former elements at a position in `list` are known.
  func isKnown(since position: Int) -> Bool { position > lastGap }

  /// Whether all former values since a position in `keyed` are known.
  func isKnown(sinceKeyed position: Int) -> Bool { position >= lastKeyedGap }

  func record(_ key: KeptKey, from old: KeptValue?, to new: KeptValue?) {
    keyed.record(key, from: old, to: new)
  }
}
