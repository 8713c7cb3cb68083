import Foundation
import Observables
import TestSupport
import Testing

/// T8, L3: many loops and threads that observe, write, stop and drop in any order.
struct ThreadStressTests {
  /// State shared by the threads: objects that any of them replaces, and inboxes for messages.
  private final class World: Sendable {
    let probe = SharedProbe()
    let tallies: [Shared<Tally?>]
    let inboxes: [Shared<Inbox?>]
    let strayCalls = Shared(0)

    init(tallies: Int, threads: Int) {
      let probe = probe
      self.tallies = (0..<tallies).map { _ in Shared(Tally(probe: probe)) }
      inboxes = (0..<threads).map { _ in Shared(nil) }
    }
  }

  /// One thread: its loop, which it replaces now and then, and its watchers there.
  private struct Player {
    let world: World
    let index: Int
    var generator: SeededGenerator
    var loop: Loop? = Loop()
    var watchers: [Watcher] = []

    mutating func any<Item>(_ items: [Item]) -> Item { items.randomElement(using: &generator)! }
    mutating func tally() -> Tally? { any(world.tallies).withLock { $0 } }

    mutating func play(steps: Int) {
      for _ in 0..<steps { step() }
      end()
    }

    private mutating func step() {
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<4: observe()
      case 4..<8:
        let count = Int.random(in: 0..<4, using: &generator)
        tally()?.count = count
      case 8:
        let next = Tally(probe: world.probe)
        tally()?.next = next
      case 9: tally()?.next = nil
      case 10, 11:
        let new = Tally(probe: world.probe)
        any(world.tallies).withLock { $0 = new }
      case 12: if !watchers.isEmpty { watchers.removeLast().stop() }
      case 13: watchers.shuffle(using: &generator)
      case 14:
        let tally = tally()
        loop?.turn { tally?.name += "x" }
      case 15: post()
      case 16: hook()
      case 17: if Bool.random(using: &generator) { end() }
      default: loop?.step()
      }
    }

    /// The loop ends, with or without a last turn, while others write and post.
    private mutating func end() {
      if Bool.random(using: &generator) { loop?.step() }
      if Bool.random(using: &generator) {
        for watcher in watchers { watcher.stop() }
      }
      watchers = []
      loop = nil
      world.inboxes[index].withLock { $0 = nil }
    }

    private mutating func observe() {
      guard let tally = tally() else { return }
      if loop == nil { loop = Loop() }
      guard let loop else { return }
      world.inboxes[index].withLock { [inbox = loop.inbox] in $0 = inbox }
      let here = pthread_self()
      let strayCalls = world.strayCalls
      func note() {
        if pthread_equal(here, pthread_self()) == 0 { strayCalls.withLock { $0 += 1 } }
      }
      let path = any(["count", "next.count", "next.next.name", "*", "next.*", "doubled"])
      // A value computed by one loop cannot notify another loop.
      let watcher =
        Bool.random(using: &generator)
        ? try? tally.observe(
          Path(stringLiteral: path), in: loop, options: WatcherOptions(onEnd: { _ in note() })
        ) { _ in note() }
        : try? tally.observeImmediately(Path(stringLiteral: path), in: loop) { _, _ in note() }
      if let watcher { watchers.append(watcher) }
    }

    private mutating func post() {
      guard let inbox = any(world.inboxes).withLock({ $0 }), let tally = tally() else { return }
      inbox.post { tally.increment() }
      let watcher = tally.observe("count", on: inbox) { $0.name = "watched" }
      if Bool.random(using: &generator) { watcher.stop() }
    }

    private mutating func hook() {
      guard let loop, let tally = tally() else { return }
      tally.onObserved(in: loop, Bool.random(using: &generator) ? { _, _ in } : nil)
    }
  }

  @Test func `in any case calls come on the loop's thread and nothing is left`() {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["OBS_SEED"].flatMap(UInt64.init) ?? 1
    let rounds = environment["OBS_COUNT"].flatMap(Int.init) ?? Size.of(200, light: 40)
    for round in 0..<UInt64(rounds) {
      let world = World(tallies: 6, threads: 4)
      let done = DispatchSemaphore(value: 0)
      for index in 0..<4 {
        Thread {
          var player = Player(
            world: world, index: index,
            generator: SeededGenerator(seed: Int(seed + round) * 4 + index))
          player.play(steps: 150)
          done.signal()
        }.start()
      }
      for _ in 0..<4 { done.wait() }
      for tally in world.tallies { tally.withLock { $0?.next = nil } }
      for tally in world.tallies { tally.withLock { $0 = nil } }
      #expect(world.strayCalls.withLock { $0 } == 0, "seed \(seed + round)")
      #expect(world.probe.alive == 0, "seed \(seed + round)")
    }
  }
}
