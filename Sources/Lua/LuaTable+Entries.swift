internal import LibC

extension LuaTable: Sequence {
  /// The entries at the beginning of a loop, in the order of `next`, without metamethods.
  ///
  /// The loop may change the table. If the entries cannot be read, because the state is closed or
  /// memory runs out, the error is reported, and there are none; ``entries()`` throws it.
  public func makeIterator() -> IndexingIterator<[(key: LuaValue, value: LuaValue)]> {
    do throws(LuaError) { return try entries().makeIterator() } catch {
      report(error, "the entries of a table could not be read")
      return [].makeIterator()
    }
  }

  /// The keys and values, in the order of `next`, without metamethods.
  ///
  /// - Throws: `memory`, `closed`, `thread`.
  /// - Complexity: O(size of the table).
  public func entries() throws(LuaError) -> [(key: LuaValue, value: LuaValue)] {
    var entries: [(key: LuaValue, value: LuaValue)] = []
    try forEach { key, value throws(LuaError) in entries.append((key, value)) }
    return entries
  }
}

extension LuaTable {
  /// The value of a key as a Swift value, like `t[key]` in Lua, including metamethods; nil if it is
  /// nil, or cannot be converted.
  ///
  /// ```swift
  /// point["x"] = 5
  /// let x: Int? = point["x"]
  /// ```
  ///
  /// Assigning an optional that is nil, or `LuaValue.nil`, removes the key. Accessors that throw
  /// cannot be assigned, so a failure, because a metamethod raised an error, the state is closed or
  /// memory runs out, is reported to the host of the state, or else to the standard error stream.
  /// ``get(_:as:)`` and ``set(_:to:)`` throw it.
  @_disfavoredOverload
  public subscript<Value: LuaConvertible>(key: some LuaEncodable) -> Value? {
    get {
      do throws(LuaError) { return try get(key, as: Value?.self) } catch {
        if !error.isOfConversion { report(error, "a key of a table could not be read") }
        return nil
      }
    }
    nonmutating set {
      do throws(LuaError) { try set(key, to: newValue) } catch {
        report(error, "a key of a table could not be set")
      }
    }
  }

  /// Reports an error that the program cannot get in another way.
  private func report(_ error: LuaError, _ failure: String) {
    let error = LuaError(
      error.code, "\(failure): \(error.message)", traceback: error.traceback, value: error.value,
      underlying: error.underlying)
    if let turns = (try? pin.state)?.turns, error.code != .thread { return turns.report(error) }
    var text = "\(error)\n"
    _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
