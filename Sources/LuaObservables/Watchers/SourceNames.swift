internal import CLua

/// A place in a script: a source and a line, in eight bytes.
struct Site {
  var source: Int32 = 0
  var line: Int32 = 0
}

/// The names of sources, each kept once.
final class SourceNames {
  @exclusivity(unchecked) private var names: [[CChar]] = [[]]
  @exclusivity(unchecked) private var indices: [[CChar]: Int32] = [:]
  @exclusivity(unchecked) private var last: Int32 = 0

  /// The innermost Lua function that is running.
  func current(_ L: OpaquePointer) -> Site {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      let line = clua_where(L, buffer.baseAddress!)
      return line == 0 ? Site() : Site(source: intern(buffer.baseAddress!), line: line)
    }
  }

  /// Where the function at `index` is defined.
  func definition(_ index: CInt, _ L: OpaquePointer) -> Site {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      let line = clua_definition(L, index, buffer.baseAddress!)
      return line == 0 ? Site() : Site(source: intern(buffer.baseAddress!), line: line)
    }
  }

  private func intern(_ name: UnsafePointer<CChar>) -> Int32 {
    // Writes come from the same file again and again.
    let isLast = names[Int(last)].withUnsafeBufferPointer { known in
      known.count > 0 && clua_equaltext(known.baseAddress!, name)
    }
    if isLast { return last }
    var text: [CChar] = []
    var position = name
    while position.pointee != 0 {
      text.append(position.pointee)
      position += 1
    }
    text.append(0)
    if let index = indices[text] {
      last = index
    } else {
      last = Int32(names.count)
      names.append(text)
      indices[text] = last
    }
    return last
  }

  /// "file:line", or "?" where no Lua function was running.
  func text(_ site: Site) -> String {
    guard site.line > 0 else { return "?" }
    let name = names[Int(site.source)].dropLast().map { UInt8(bitPattern: $0) }
    return "\(String(decoding: name, as: UTF8.self)):\(site.line)"
  }
}
