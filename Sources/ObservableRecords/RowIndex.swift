#if Records
  /// The states of rows by their keys.
  ///
  /// An open-addressing hash table. A state knows its key, so each entry needs one word. A state is
  /// at the place given by its key, or after it without a gap. The index does not retain the
  /// states: each is removed before it ends or gets another key.
  struct RowIndex {
    private typealias Entry = Unmanaged<RecordState>

    /// The places; their number is a power of two, and at least a quarter is free.
    private var places: ContiguousArray<Entry?> = []
    private var count = 0
    /// The number of bits of a hash that do not select the place.
    private var shift: UInt64 = 64
    /// A random odd number, so that an attacker cannot choose keys that collide.
    private let factor = UInt64.random(in: .min ... .max) | 1

    /// The states, in no particular order.
    var states: [RecordState] { places.compactMap { $0?.takeUnretainedValue() } }

    /// The keys, in no particular order.
    var keys: [RecordKey] { places.compactMap { $0.map(RowIndex.key) } }

    func contains(where body: (RecordState) -> Bool) -> Bool {
      places.contains { $0?._withUnsafeGuaranteedRef(body) ?? false }
    }

    /// Returns the state with this key.
    func state(_ key: RecordKey) -> RecordState? {
      if count == 0 { return nil }
      var place = home(of: key)
      while let entry = places[place] {
        if RowIndex.key(of: entry) == key { return entry.takeUnretainedValue() }
        place = next(place)
      }
      return nil
    }

    func has(_ state: RecordState) -> Bool { place(of: state) != nil }

    /// Enters a state by its key; returns the state that had the key, which is not found any more.
    mutating func enter(_ state: RecordState, _ key: RecordKey) -> RecordState? {
      if count >= places.count / 4 * 3 { grow() }
      let entry = Entry.passUnretained(state)
      var place = home(of: key)
      while let former = places[place] {
        if RowIndex.key(of: former) == key {
          places[place] = entry
          return former.toOpaque() == entry.toOpaque() ? nil : former.takeUnretainedValue()
        }
        place = next(place)
      }
      places[place] = entry
      count += 1
      return nil
    }

    /// Removes a state; does nothing if the state is not found by its key.
    mutating func remove(_ state: RecordState) {
      guard var gap = place(of: state) else { return }
      places[gap] = nil
      count -= 1
      var place = next(gap)
      while let entry = places[place] {
        // An entry whose own place is not behind the gap moves into the gap; otherwise it could not
        // be found.
        let distance = place &- home(of: RowIndex.key(of: entry))
        if distance & (places.count - 1) >= (place &- gap) & (places.count - 1) {
          places.swapAt(gap, place)
          gap = place
        }
        place = next(place)
      }
    }

    private func place(of state: RecordState) -> Int? {
      guard count > 0, let key = state.key else { return nil }
      var place = home(of: key)
      while let entry = places[place] {
        if entry.toOpaque() == Entry.passUnretained(state).toOpaque() { return place }
        place = next(place)
      }
      return nil
    }

    private mutating func grow() {
      let former = places
      places = ContiguousArray(repeating: nil, count: max(16, 2 * former.count))
      shift = UInt64(64 - places.count.trailingZeroBitCount)
      for case let entry? in former {
        var place = home(of: RowIndex.key(of: entry))
        while places[place] != nil { place = next(place) }
        places[place] = entry
      }
    }

    private func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }

    private func home(of key: RecordKey) -> Int {
      let number =
        if case .integer(let number) = key { UInt64(bitPattern: number) } else {
          UInt64(truncatingIfNeeded: key.hashValue)
        }
      return Int(truncatingIfNeeded: (number &* factor) &>> shift)
    }

    /// The key of an entered state; each has one.
    private static func key(of entry: Entry) -> RecordKey {
      entry._withUnsafeGuaranteedRef { $0.key.unsafelyUnwrapped }
    }
  }
#endif
