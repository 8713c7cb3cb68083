import Observables
import ProtocolObservers
import Testing

private protocol TickObserver: AnyObject {
  func ticked(_ number: Int)
}

/// Counts without a pause, or with one that ends the count when it is cancelled.
private final class Ticker: KeyedObservableThread<Bool>, @unchecked Sendable {
  private let count: Int
  private let pause: Double
  init(count: Int, pause: Double = 0) { (self.count, self.pause) = (count, pause) }

  override func main() {
    for number in 0..<count {
      withObservers { (observer: any TickObserver) in observer.ticked(number) }
      withObservers(for: number.isMultiple(of: 2)) { (_, observer: any TickObserver) in
        observer.ticked(number)
      }
      if pause > 0, !sleep(seconds: pause) { return }
    }
  }
}

private final class Listener: TickObserver {
  var numbers: [Int] = []
  var reaction: (Int) -> Void = { _ in }
  func ticked(_ number: Int) {
    numbers.append(number)
    reaction(number)
  }
}

/// K3: a thread that is observable.
struct ObservableThreadTests {
  @Test func `a thread does not sleep for a time that is not a number`() {
    let ticker = Ticker(count: 1)
    #expect(ticker.sleep(seconds: .nan) && ticker.sleep(seconds: -.infinity))
    ticker.cancel()
    #expect(!ticker.sleep(seconds: .infinity))
  }

  @Test func `observers of a thread are called in their own loop, with keys and without`() {
    let loop = Loop(clock: .virtual)
    let (all, even) = (Listener(), Listener())
    let ticker = Ticker(count: 100)
    ticker.addObserver(all, in: .loop(loop.inbox))
    ticker.addObserver(even, for: true, in: .loop(loop.inbox))
    ticker.start()
    ticker.join()
    #expect(!ticker.isRunning && !ticker.isCancelled)
    loop.run()
    #expect(all.numbers == Array(0..<100))
    #expect(even.numbers == Array(stride(from: 0, to: 100, by: 2)))
  }

  // T8
  @Test func `a thread wakes the idle loop of its observer`() {
    let loop = Loop()
    let listener = Listener()
    listener.reaction = { if $0 == 9 { loop.stop() } }
    let ticker = Ticker(count: 10)
    ticker.addObserver(listener, in: .loop(loop.inbox))
    loop.retain()
    ticker.start()
    loop.run()
    #expect(listener.numbers == Array(0..<10))
    ticker.join()
  }

  @Test func `a waiting thread ends at once when it is cancelled`() {
    let loop = Loop()
    let listener = Listener()
    let ticker = Ticker(count: 10, pause: 3_600)
    listener.reaction = { _ in
      ticker.cancel()
      loop.stop()
    }
    ticker.addObserver(listener, in: .loop(loop.inbox))
    loop.retain()
    ticker.start()
    loop.run()
    ticker.join()
    #expect(ticker.isCancelled && !ticker.isRunning)
    #expect(listener.numbers == [0])
  }

  @Test func `a thread keeps itself alive until it is done`() {
    weak var gone: Ticker?
    do {
      let ticker = Ticker(count: 1)
      gone = ticker
      ticker.start()
      ticker.join()
    }
    // The thread releases itself after `join` has returned.
    while gone != nil {}
    #expect(gone == nil)
  }
}
