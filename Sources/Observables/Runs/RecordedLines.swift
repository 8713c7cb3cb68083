import LibC

/// The lines of a recording, in memory.
struct RecordedLines {
  private let file: UnsafeRawBufferPointer

  /// Maps a file, which stays in memory as long as the process.
  ///
  /// - Throws: `RunRecordingError` if it cannot be read.
  init(path: String) throws(RunRecordingError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    defer { if descriptor >= 0 { _ = close(descriptor) } }
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      throw RunRecordingError(.replay, path: path, reason: String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw RunRecordingError(.replay, path: path, reason: "it is not a regular file")
    }
    let size = Int(status.st_size)
    let memory = size > 0 ? mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : nil
    guard memory != MAP_FAILED else {
      throw RunRecordingError(.replay, path: path, reason: String(cString: strerror(errno)))
    }
    file = UnsafeRawBufferPointer(start: memory, count: memory == nil ? 0 : size)
  }

  /// Finds lines, one after the other.
  struct Cursor {
    fileprivate var position = 0
    /// The number of the line that was found last.
    fileprivate(set) var number = 0
  }

  /// Returns the next line, without its end, or nil at the end of the file.
  ///
  /// A line that was cut is left out.
  func next(_ cursor: inout Cursor) -> UnsafeRawBufferPointer? {
    guard cursor.position < file.count, let start = file.baseAddress else { return nil }
    let rest = file.count - cursor.position
    guard let end = memchr(start + cursor.position, 10, rest) else { return nil }
    let line = UnsafeRawBufferPointer(
      start: start + cursor.position, count: UnsafeRawPointer(end) - (start + cursor.position))
    cursor.position += line.count + 1
    cursor.number += 1
    return line
  }
}

/// A line of a recording that is read: the parts of its JSON array.
struct RecordedLine {
  let bytes: UnsafeRawBufferPointer
  private let parts: [Range<Int>]

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    var (parts, start, depth, isText) = ([Range<Int>](), 1, 0, false)
    var place = 0
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\\"): place += 1
      case UInt8(ascii: "\""): isText.toggle()
      case _ where isText: break
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 { parts.append(start..<max(start, place)) }
      case UInt8(ascii: ",") where depth == 1:
        parts.append(start..<place)
        start = place + 1
      default: break
      }
      place += 1
    }
    self.parts = parts
  }

  var count: Int { parts.count }

  /// Whether the line has this kind; faster than reading its parts.
  static func has(_ bytes: UnsafeRawBufferPointer, kind: StaticString) -> Bool {
    let length = kind.utf8CodeUnitCount
    return bytes.count > length + 3 && memcmp(bytes.baseAddress! + 2, kind.utf8Start, length) == 0
      && bytes[length + 2] == UInt8(ascii: "\"")
  }

  subscript(part: Int) -> UnsafeRawBufferPointer {
    guard part < parts.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: bytes[parts[part]])
  }

  func integer(_ part: Int) -> Int? { Int(String(decoding: self[part], as: UTF8.self)) }

  func text(_ part: Int) -> String? { data(part).map { String(decoding: $0, as: UTF8.self) } }

  /// The bytes of a text, or of an object with base64; nil for other values.
  func data(_ part: Int) -> [UInt8]? {
    let json = self[part]
    guard let first = json.first else { return nil }
    if first == UInt8(ascii: "\"") { return Self.unescaped(json.dropFirst().dropLast()) }
    let prefix = Array("{\"b\":\"".utf8)
    guard json.starts(with: prefix) else { return nil }
    return Self.decoded(json.dropFirst(prefix.count).dropLast(2))
  }

  private static func unescaped(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    var (result, rest) = ([UInt8](), text)
    result.reserveCapacity(text.count)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
        result.append(byte)
        continue
      }
      switch letter {
      case UInt8(ascii: "n"): result.append(10)
      case UInt8(ascii: "u"):
        // Only characters below 32 are written this way.
        result.append(UInt8(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(4)
      default: result.append(letter)
      }
    }
    return result
  }

  private static func decoded(_ base64: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    var (result, bits, count) = ([UInt8](), 0, 0)
    for letter in base64 {
      guard let value = RunLines.base64.firstIndex(of: letter) else { break }
      (bits, count) = ((bits << 6 | value) & 0xFFFF, count + 6)
      if count >= 8 {
        count -= 8
        result.append(UInt8(bits >> count & 0xFF))
      }
    }
    return result
  }
}
