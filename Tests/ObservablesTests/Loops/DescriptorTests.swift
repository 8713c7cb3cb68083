import Foundation
import Observables
import Testing

/// Q2: callbacks for ready descriptors.
struct DescriptorTests {
  /// A pipe that is closed with the test.
  private final class Pipe {
    private(set) var input: Int32
    private(set) var output: Int32

    init() {
      var ends: [Int32] = [-1, -1]
      try! #require(Foundation.pipe(&ends) == 0)
      (input, output) = (ends[0], ends[1])
    }

    deinit {
      closeInput()
      closeOutput()
    }

    func write(_ text: String) { _ = Foundation.write(output, text, text.utf8.count) }

    func read() -> String {
      var bytes: [UInt8] = Array(repeating: 0, count: 100)
      let count = Foundation.read(input, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    func closeInput() {
      if input >= 0 { close(input) }
      input = -1
    }

    func closeOutput() {
      if output >= 0 { close(output) }
      output = -1
    }
  }

  private let pipe = Pipe()

  @Test func `a handler is called while there is data to read, and at the end`() throws {
    let loop = Loop()
    var texts: [String] = []
    pipe.write("a")
    var handler: DescriptorHandler?
    handler = try loop.onReadable(pipe.input) {
      texts.append(pipe.read())
      switch texts.count {
      case 1: pipe.write("b")
      case 2: pipe.closeOutput()
      default: handler?.stop()
      }
    }
    loop.run()
    #expect(texts == ["a", "b", ""])
    #expect(handler?.isActive == false)
  }

  // T1
  @Test func `a call is a turn`() throws {
    let loop = Loop()
    let person = Person("Ann")
    var names: [String] = []
    try person.observe("name", in: loop) { names.append($0.name) }
    pipe.write("a")
    let handler = try loop.onReadable(pipe.input) {
      person.name = "Bob"
      person.name = pipe.read()
    }
    loop.step()
    #expect(names == ["a"])
    handler.stop()
  }

  @Test func `an unreferenced handler does not keep the loop running`() throws {
    let loop = Loop()
    let handler = try loop.onReadable(pipe.input) {}
    #expect(loop.isAlive)
    handler.keepsLoopRunning = false
    #expect(!loop.isAlive)
    loop.run()
    handler.keepsLoopRunning = true
    #expect(loop.isAlive)
    handler.stop()
    handler.stop()
    #expect(!loop.isAlive)
  }

  @Test func `a handler can stop another one in its turn`() throws {
    let (loop, other) = (Loop(), Pipe())
    pipe.write("a")
    other.write("b")
    var (calls, handlers) = (0, [DescriptorHandler]())
    for end in [pipe.input, other.input] {
      handlers.append(
        try loop.onReadable(end) {
          calls += 1
          for handler in handlers { handler.stop() }
        })
    }
    loop.run()
    #expect(calls == 1)
  }

  @Test func `a writable descriptor calls again and again`() throws {
    let loop = Loop()
    var calls = 0
    var handler: DescriptorHandler?
    handler = try loop.onWritable(pipe.output) {
      calls += 1
      if calls == 3 { handler?.stop() }
    }
    loop.run()
    #expect(calls == 3)
  }

  @Test func `a closed descriptor is an error, at once or when it is found`() throws {
    let loop = Loop()
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    let (input, output) = (pipe.input, pipe.output)
    let handler = try loop.onReadable(input) {}
    pipe.closeInput()
    loop.run()
    #expect(!handler.isActive)
    #expect(errors == ["The descriptor \(input) is not open"])
    pipe.closeOutput()
    #expect(throws: ClosedDescriptor.self) { try loop.onWritable(output) {} }
    #expect(loop.statistics.errors == 1)
  }

  @Test func `virtual time waits until available data was read`() throws {
    let loop = Loop(clock: .virtual)
    var log: [String] = []
    pipe.write("a")
    var handler: DescriptorHandler?
    handler = try loop.onReadable(pipe.input) {
      log.append("\(pipe.read()) at \(loop.now)")
      handler?.stop()
    }
    loop.after(60) { log.append("timer at \(loop.now)") }
    loop.advance(by: 100)
    #expect(log == ["a at 0.0", "timer at 60.0"])
    #expect(loop.now == 100)
  }

  // T13
  @Test func `a driven loop asks for a turn when a descriptor is ready`() async throws {
    let text = try await onOwnThread { () throws -> String in
      let asked = DispatchSemaphore(value: 0)
      let works = Shared([@Sendable () -> Void]())
      let loop = Loop(
        driver: LoopDriver { _, work in
          works.withLock { $0.append(work) }
          asked.signal()
        })
      let (pipe, log) = (Pipe(), Shared(""))
      var handler: DescriptorHandler?
      handler = try loop.onReadable(pipe.input) {
        log.withLock { $0 += pipe.read() }
        if log.withLock({ $0.count }) == 2 { handler?.stop() }
      }
      func step() {
        asked.wait()
        works.withLock { $0.removeFirst() }()
      }
      // The first step finds nothing to read; from then on the loop waits for the descriptor.
      step()
      pipe.write("a")
      while log.withLock({ $0 }) != "a" { step() }
      pipe.write("b")
      while handler?.isActive == true { step() }
      return log.withLock { $0 }
    }
    #expect(text == "ab")
  }
}
