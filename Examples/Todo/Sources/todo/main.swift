import Foundation

guard CommandLine.arguments.count == 2 else {
  print("usage: todo SCRIPT")
  exit(2)
}
let app = try App(script: CommandLine.arguments[1])

// Reading waits, so it is done elsewhere. The main queue stays free for the loop, and for everything else
// that the app has there.
let (lines, input) = AsyncStream.makeStream(of: String.self)
Thread.detachNewThread {
  while let line = readLine() { input.yield(line) }
  input.finish()
}
for await line in lines {
  print("> \(line)")
  await app.perform(line)
  // All lines of a file are there at once. Let each have a turn of its own.
  await Task.yield()
}
