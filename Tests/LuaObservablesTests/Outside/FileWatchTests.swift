import Foundation
import LibC
import LuaObservables
import Testing

/// Watched paths, for `obs.io.watch` and `--watch`.
#if os(Linux)
  struct FileWatchTests {
    /// A new folder, and a watch of paths in it.
    private final class Watched {
      let folder: String
      let watch: FileWatch

      init(_ paths: [String], before: String = ":", isDetailed: Bool = false) throws {
        let folder = NSTemporaryDirectory() + "obs-lua-watch-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.folder = folder
        watch = try #require(FileWatch(isDetailed: isDetailed))
        try run(before)
        for path in paths { try #require(watch.add(folder + "/" + path) != nil) }
      }

      deinit { try? FileManager.default.removeItem(atPath: folder) }

      /// Runs a line of the shell in the folder.
      func run(_ line: String) throws {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-ec", "cd \(folder)\n\(line)"]
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0, "\(line)")
      }

      /// The changes since the last call, relative to the folder.
      ///
      /// The system has noted a change when the call that made it returns, so this waits for none.
      func changes() -> [String] {
        watch.takeChanges().map { String($0.path.dropFirst(folder.count + 1)) }.sorted()
      }

      /// Waits until there are changes.
      ///
      /// The end of writing is noted when the last process has closed the file, and a process that
      /// another test has just forked has all descriptors until it runs its program.
      func awaitChanges() {
        var request = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&request, 1, -1)
      }

      /// The number of folders that the system watches.
      var count: Int {
        let path = "/proc/self/fdinfo/\(watch.descriptor)"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
      }
    }

    /// Checks which paths change at each step.
    private func expect(
      _ paths: [String], before: String = ":", isDetailed: Bool = false,
      _ steps: KeyValuePairs<String, [String]>
    ) throws {
      let watched = try Watched(paths, before: before, isDetailed: isDetailed)
      for (line, changes) in steps {
        try watched.run(line)
        #expect(watched.changes() == changes, "\(line)")
      }
    }

    // Q4
    @Test func `a folder that is removed and made again is followed`() throws {
      try expect(
        ["a/b/f"], before: "mkdir -p a/b; echo 1 >a/b/f",
        [
          "rm -r a/b": [], "mkdir a/b": [], "echo 2 >a/b/f": ["a/b/f"], "echo 3 >a/b/f": ["a/b/f"],
          "rm -r a": [], "mkdir -p a/b; echo 4 >a/b/f": ["a/b/f"],
          "rm -r a; mkdir -p a/b; echo 5 >a/b/f": ["a/b/f"], "echo 6 >a/b/f": ["a/b/f"],
        ])
    }

    // Q4
    @Test func `a file is the same when the folder above it was renamed and renamed back`() throws {
      try expect(
        ["a/b/f"], before: "mkdir -p a/b; echo 1 >a/b/f",
        [
          "mv a c": [], "echo 2 >c/x": [], "mv c a": [], "echo 2 >a/b/f": ["a/b/f"], "mv a c": [],
          "echo 333 >c/b/f": [], "mv c a": ["a/b/f"],
          "mv a c; mkdir -p a/b; echo 4 >a/b/f": ["a/b/f"],
          "echo 5 >c/b/f": [], "echo 5 >a/b/f": ["a/b/f"],
        ])
    }

    // H5
    @Test func `a file that has changed before it was watched has changed`() throws {
      let watched = try Watched([], before: "echo 1 >f; echo 1 >g")
      let paths = ["f", "g", "none"].map { watched.folder + "/" + $0 }
      let stamps = paths.map(FileWatch.stamp)
      try watched.run("echo 2 >f.new; mv f.new f; echo 3 >none")
      for (path, stamp) in zip(paths, stamps) { watched.watch.add(path, stamp: stamp) }
      #expect(watched.watch.hasChanges)
      #expect(watched.changes() == ["f", "none"])
      watched.watch.add(paths[0], stamp: stamps[0])
      #expect(!watched.watch.hasChanges && watched.changes() == [])
    }

    // Q4
    @Test func `links are followed, also in the middle of a path`() throws {
      try expect(
        ["now/d/f", "link"],
        before: """
          mkdir -p 1/d 2/d; echo 1 >1/d/f; echo 2 >2/d/f; ln -s 1 now; ln -s now/./d/../d/f link
          """,
        [
          "ln -sfn 2 now": ["link", "now/d/f"], "echo 3 >1/d/f": [],
          "echo 3 >2/d/f": ["link", "now/d/f"], "rm now": [],
          "ln -s $PWD/1 now": ["link", "now/d/f"],
          "echo 4 >1/d/f": ["link", "now/d/f"], "ln -sf 2/d/f link": ["link"],
          "echo 5 >2/d/f": ["link"], "ln -sfn now now": [], "ln -sfn 2 now": ["now/d/f"],
        ])
    }

    // Q4
    @Test func `a file that does not exist yet is followed, and one that is replaced`() throws {
      try expect(
        ["x/y/f", "g"],
        [
          "mkdir x": [], "mkdir x/y": [], "echo 1 >x/y/n": [], "mv x/y/n x/y/f": ["x/y/f"],
          "echo 2 >x/y/n; mv x/y/n x/y/f": ["x/y/f"], "ln x/y/f g": ["g"], "rm g": [],
          "mkdir -p n/y; echo 3 >n/y/f; mv x old; mv n x": ["x/y/f"],
        ])
    }

    @Test func `a file changes when it is complete, or with each write and removal`() throws {
      for isDetailed in [false, true] {
        let watched = try Watched(["f", "."], isDetailed: isDetailed)
        let file = open(watched.folder + "/f", O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        #expect(watched.changes() == (isDetailed ? ["f", "f"] : []))
        #expect(write(file, "text", 4) == 4)
        #expect(watched.changes() == (isDetailed ? ["f", "f"] : []))
        close(file)
        watched.awaitChanges()
        #expect(watched.changes() == ["f", "f"])
        try watched.run("rm f")
        #expect(watched.changes() == (isDetailed ? ["f", "f"] : []))
      }
    }

    // Q4
    @Test func `entries of a folder change, and the folder itself when it is replaced`() throws {
      try expect(
        ["d"], before: "mkdir d",
        [
          "echo 1 >d/f": ["d/f"], "mkdir d/e": ["d/e"], "ln -s f d/l": ["d/l"],
          "mv d/f g; mv g d/h": ["d/h"], "rm -r d; mkdir d": ["d"], "echo 2 >d/f": ["d/f"],
          "mv d c; mkdir d; echo 3 >d/f": ["d"], "echo 4 >c/f": [], "echo 4 >d/f": ["d/f"],
        ])
    }

    @Test func `folders that no path leads through are forgotten`() throws {
      let watched = try Watched(["a/b/f", "a/b"], before: "mkdir -p a/b")
      let count = watched.count
      for _ in 1...50 {
        try watched.run("mv a c; mkdir -p a/b")
        #expect(watched.changes() == ["a/b"])
        #expect(watched.count == count)
        try watched.run("rm -r c")
      }
      let paths = ["a/b/f", "a/b"].map { watched.folder + "/" + $0 }
      watched.watch.remove(FileWatch.absolute(paths[0]))
      #expect(watched.count == count)
      watched.watch.remove(FileWatch.absolute(paths[1]))
      #expect(watched.count == 0)
    }

    @Test func `no change is lost with events that the system drops`() throws {
      let watched = try Watched(["a/f", "g", "d"], before: "mkdir a d; echo 1 >a/f; echo 1 >g")
      let text = try String(
        contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
      let most = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      let (one, other) = (watched.folder + "/one", watched.folder + "/other")
      try watched.run("echo >one")
      for _ in 0..<most / 4 + 1 {
        rename(one, other)
        rename(other, one)
      }
      try watched.run("mv a b; mkdir a; echo 2 >a/f; echo 2 >d/f")
      #expect(watched.changes() == ["a/f", "d"])
      try watched.run("echo 3 >a/f")
      #expect(watched.changes() == ["a/f"])
    }
  }
#endif
