internal import LibC

/// The abilities of a terminal.
package enum TerminalStyle {
  /// The width of the terminal of a descriptor, within sensible bounds.
  package static func columns(of descriptor: CInt) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return min(max(Int(size.ws_col), 40), 200)
  }

  /// Whether texts for a descriptor have colours: on a colour terminal, unless the user declines
  /// them with `NO_COLOR`.
  package static func isColoured(_ descriptor: CInt) -> Bool {
    guard isatty(descriptor) != 0 else { return false }
    if let declined = getenv("NO_COLOR"), declined[0] != 0 { return false }
    guard let type = getenv("TERM"), type[0] != 0 else { return false }
    return strcmp(type, "dumb") != 0
  }
}
