#if Records
  internal import Foundation

  /// The primary key of a row.
  enum RecordKey: Hashable, Sendable {
    case integer(Int64)
    case text(String)
    case data(Data)
    case real(Double)

    /// The key that is stored as `value`; nil for NULL.
    init?(_ value: DatabaseValue) {
      switch value.storage {
      case .null: return nil
      case .int64(let number): self = .integer(number)
      case .double(let number): self = .real(number)
      case .string(let text): self = .text(text)
      case .blob(let data): self = .data(data)
      }
    }

    func hash(into hasher: inout Hasher) {
      // Keys of one table are nearly always of one kind.
      switch self {
      case .integer(let number): hasher.combine(number)
      case .text(let text): hasher.combine(text)
      case .data(let data): hasher.combine(data)
      case .real(let number): hasher.combine(number)
      }
    }

    var databaseValue: DatabaseValue {
      switch self {
      case .integer(let number): number.databaseValue
      case .text(let text): text.databaseValue
      case .data(let data): data.databaseValue
      case .real(let number): number.databaseValue
      }
    }
  }

  extension RecordKey: CustomStringConvertible {
    var description: String {
      switch self {
      case .integer(let number): "\(number)"
      case .text(let text): "'\(text)'"
      case .data(let data): "\(data.count) bytes"
      case .real(let number): "\(number)"
      }
    }
  }
#endif
