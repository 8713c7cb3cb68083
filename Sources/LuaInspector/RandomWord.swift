/// 128 random bits of the system, as 32 hexadecimal digits.
func randomWord() -> String {
  var generator = SystemRandomNumberGenerator()
  return (0..<2).map { _ in
    let digits = String(generator.next(), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }.joined()
}
