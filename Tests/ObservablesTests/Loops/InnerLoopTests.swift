import Foundation
import Testing

@testable import Observables

/// Q1: a library's loop that runs inside another loop.
struct InnerLoopTests {
  /// A library's loop with a number of work items, one in each iteration.
  private final class Library: InnerLoop {
    var works: [() -> Void] = []
    var secondsToNext: Double?
    var isNeeded: [Bool] = []
    let descriptor: Int32
    private let output: Int32

    init() {
      var ends: [Int32] = [-1, -1]
      try! #require(Foundation.pipe(&ends) == 0)
      (descriptor, output) = (ends[0], ends[1])
    }

    deinit {
      close(descriptor)
      close(output)
    }

    var isAlive: Bool { !works.isEmpty }
    func updateTime() {}
    func iterate(isNeeded: Bool) -> Bool {
      self.isNeeded.append(isNeeded)
      guard !works.isEmpty else { return false }
      works.removeFirst()()
      return true
    }
  }

  private let library = Library()

  // T1
  @Test func `each iteration is a turn, and the loop runs until no work is left`() throws {
    let loop = Loop()
    let person = Person("Ann")
    var ages: [Int] = []
    try person.observe("age", in: loop) { ages.append($0.age) }
    library.works = (1...3).map { number in
      {
        person.age = 10 * number
        person.age += 1
      }
    }
    loop.run(inside: library)
    loop.run()
    #expect(ages == [11, 21, 31])
    #expect(!loop.isAlive)
  }

  @Test func `timers of both loops are served`() {
    let loop = Loop()
    var log: [String] = []
    loop.after(0) { log.append("timer") }
    library.works = [{ log.append("a") }, { log.append("b") }]
    library.secondsToNext = 60
    loop.run(inside: library)
    loop.run()
    #expect(log == ["timer", "a", "b"])
  }

  @Test func `the library knows whether the loop continues without it`() {
    let loop = Loop()
    loop.run(inside: library)
    loop.step()
    loop.after(60) {}
    loop.step()
    #expect(library.isNeeded == [false, true])
  }

  @Test func `virtual time passes as real time while the library is busy`() {
    let loop = Loop(clock: .virtual)
    var reached = -1.0
    library.secondsToNext = 0.01
    library.works = [{}, { [library] in library.secondsToNext = nil }, { reached = loop.now }]
    loop.after(3600) {}
    loop.run(inside: library)
    loop.run { library.isAlive }
    #expect(reached >= 0 && reached < 3600)
    loop.run()
    #expect(loop.now == 3600)
  }

  @Test func `a condition ends the run`() {
    let loop = Loop()
    var calls = 0
    library.works = Array(repeating: { calls += 1 }, count: 5)
    loop.run(inside: library)
    loop.run { calls < 2 }
    #expect(calls == 2)
    loop.run(inside: nil)
    #expect(!loop.isAlive)
  }
}
