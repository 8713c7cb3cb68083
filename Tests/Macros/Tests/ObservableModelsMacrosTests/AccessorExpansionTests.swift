import Testing

/// The accessors of stored properties.
struct AccessorExpansionTests {
  @Test(.needsSwift62)
  func `a property reports its writes, and copies nothing while it is unobserved`() {
    expectAccessors(
      "final class User { @ObservedProperty(0, .initialized) public weak var boss: User? }",
      """
      public weak var boss: User? {
        @storageRestrictions(initializes: _boss)
        init(initialValue) { _boss = initialValue }
        get {
          observation.access(Self.firstModelSlot + 0, of: self)
          return _boss
        }
        set {
          guard observation.isObserved(Self.firstModelSlot + 0) else { _boss = newValue return }
          let old = _boss
          _boss = newValue
          observation.didSet(Self.firstModelSlot + 0, from: old, to: _boss)
        }
        _modify {
          guard observation.isObserved(Self.firstModelSlot + 0) else { yield &_boss return }
          let old = _boss
          var value = old
          defer { _boss = value observation.didSet(Self.firstModelSlot + 0, from: old, to: _boss) }
          yield &value
        }
      }

      private weak var _boss: User?
      """)
  }

  @Test func `observers move to the storage, and write it directly`() {
    expectAccessors(
      """
      final class User {
        @ObservedProperty(1) var size = 1 {
          willSet { print(size, newValue) }
          didSet { if size > 10 { self.size = 10; other.size = 3 } }
        }
      }
      """,
      """
      set {
        guard observation.isObserved(Self.firstModelSlot + 1) else { _size = newValue return }
        let old = _size
        _size = newValue
        observation.didSet(Self.firstModelSlot + 1, from: old, to: _size)
      }
      """,
      """
      private var _size = 1 {
        willSet { print(_size, newValue) }
        didSet { if _size > 10 { self._size = 10; other.size = 3 } }
      }
      """)
  }

  @Test func `a variable of the same name is left alone`() {
    expectAccessors(
      """
      final class User {
        @ObservedProperty(1) var size = 1 {
          didSet { let size = 3; print(size, self.size) }
        }
      }
      """,
      "private var _size = 1 { didSet { let size = 3; print(size, self._size) } }")
  }

  @Test(.needsSwift62)
  func `several threads and the toolchain's Observation`() {
    expectAccessors(
      "final class User { @ObservedProperty(2, .threadSafe, .observable) var `default` = 1 }",
      """
      var `default` {
        get {
          modelRegistrar.access(self, keyPath: \\.`default`)
          observation.access(Self.firstModelSlot + 2, of: self)
          return observation.locked { _default }
        }
        set {
          ObservableModels.requireSendable(newValue)  \
      // or keep it in a 'Mutex', or in a private 'nonisolated(unsafe) var' and guard it
          modelRegistrar.willSet(self, keyPath: \\.`default`)
          defer { modelRegistrar.didSet(self, keyPath: \\.`default`) }
          let (old, new) = observation.locked {
            let old = _default
            _default = newValue
            return (old, _default)
          }
          observation.didSet(Self.firstModelSlot + 2, of: self, from: old, to: new)
        }
        _modify {
          modelRegistrar.willSet(self, keyPath: \\.`default`)
          defer { modelRegistrar.didSet(self, keyPath: \\.`default`) }
          observation.lock()
          let old = _default
          defer {
            let new = _default
            observation.unlock()
            observation.didSet(Self.firstModelSlot + 2, of: self, from: old, to: new)
          }
          yield &_default
        }
      }

      private nonisolated(unsafe) var _default = 1
      """)
  }
}
