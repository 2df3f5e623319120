import Commerce

/// The value of a fact. Dates are milliseconds since 1970; true is 1 and false 0.
public enum StatedValue: Hashable, Sendable, Codable {
    case integer(Int64)
    case text(String)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}

/// By number, then by bytes. A number is less than a text.
extension StatedValue: Comparable {
    public static func < (left: StatedValue, right: StatedValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): ByteKey(left) < ByteKey(right)
        case (.integer, .text): true
        case (.text, .integer): false
        }
    }
}
